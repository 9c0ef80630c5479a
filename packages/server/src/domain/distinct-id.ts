export const distinctIdCharactersMax = 200

/**
 * Normalizes the distinct id of a person for storage: numbers as text, truncated to PostHog's maximum length, without characters that a
 * database cannot store. Undefined when there is none.
 */
export function readDistinctId(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  const id = storable(value).trim().slice(0, distinctIdCharactersMax)
  return id === '' ? undefined : id.toWellFormed()
}

/** PostgreSQL cannot store NUL, and no database can store a lone surrogate. */
export const storable = (text: string): string => text.replaceAll('\u0000', '\ufffd').toWellFormed()

/**
 * Placeholder ids that broken clients send for every user. Merging by one of them would eventually merge all persons into one.
 */
const meaningless = new Set([
  '0',
  'anonymous',
  'distinct_id',
  'distinctid',
  'email',
  'false',
  'guest',
  'id',
  'nan',
  'nil',
  'none',
  'not_authenticated',
  'null',
  'true',
  'undefined',
  '[object object]',
])

export const isMeaningless = (distinctId: string): boolean => meaningless.has(unquoted(distinctId.toLowerCase()).trim())

function unquoted(text: string): string {
  const isQuote = (index: number) => text[index] === '"' || text[index] === "'"
  let start = 0
  let end = text.length
  while (isQuote(start)) start += 1
  while (end > start && isQuote(end - 1)) end -= 1
  return text.slice(start, end)
}
