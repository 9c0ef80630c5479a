export const distinctIdCharactersMax = 200

/**
 * The id under which a client knows somebody, as we keep it: numbers as text, no longer than PostHog keeps them, and without the
 * characters that no database stores. Undefined when there is none.
 */
export function readDistinctId(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  const id = storable(value).trim().slice(0, distinctIdCharactersMax)
  return id === '' ? undefined : id.toWellFormed()
}

/** PostgreSQL stores no NUL, and no database a lone surrogate. */
export const storable = (text: string): string => text.replaceAll('\u0000', '\ufffd').toWellFormed()

/**
 * Ids that broken clients send for everybody. Binding one to a person would in time merge all people into one, so they
 * never take part in a merge.
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

export const isMeaningless = (distinctId: string): boolean =>
  meaningless.has(
    distinctId
      .toLowerCase()
      .replace(/^["']+|["']+$/g, '')
      .trim(),
  )
