/** A person as the playground evaluates one. */
export interface PlaygroundPerson {
  readonly distinct_id: string
  readonly person_properties?: Readonly<Record<string, unknown>>
}

const idNames = ['distinct_id', 'id', 'user_id', 'uuid']

/** People from pasted text: JSON, CSV with a header that names the id, or one distinct id per line. Undefined when it is broken JSON. */
export function parsePeople(text: string): PlaygroundPerson[] | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return []
  if (/^[[{]/.test(trimmed)) return fromJson(trimmed)
  const rows = readRows(trimmed)
  const [head = [], ...body] = rows
  const idColumn = head.findIndex(name => idNames.includes(name.trim().toLowerCase()))
  if (head.length < 2 || idColumn < 0) {
    return trimmed
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
      .map(distinct_id => ({ distinct_id }))
  }
  return body.flatMap(cells => {
    const distinct_id = cells[idColumn]?.trim() ?? ''
    if (distinct_id === '') return []
    const properties = head.flatMap((name, column) => {
      const value = cells[column]?.trim() ?? ''
      return column === idColumn || value === '' ? [] : [[name.trim(), readValue(value)] as const]
    })
    return [{ distinct_id, person_properties: Object.fromEntries(properties) }]
  })
}

/** Properties from lines such as `plan = pro`. */
export function parseProperties(text: string): Record<string, unknown> {
  const pairs = text.split('\n').flatMap(line => {
    const at = line.indexOf('=')
    const name = line.slice(0, at).trim()
    return at < 1 || name === '' ? [] : [[name, readValue(line.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function fromJson(text: string): PlaygroundPerson[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).flatMap(item => {
      if (typeof item === 'string' || typeof item === 'number') return [{ distinct_id: String(item) }]
      const record = (item ?? {}) as Record<string, unknown>
      const name = idNames.find(each => record[each] !== undefined)
      if (name === undefined) return []
      const { [name]: id, person_properties, properties, ...rest } = record
      const own = { ...rest, ...(properties as object), ...(person_properties as object) }
      return [{ distinct_id: String(id), ...(Object.keys(own).length > 0 && { person_properties: own }) }]
    })
  } catch {
    return undefined
  }
}

/** Numbers and booleans keep their type. */
function readValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** CSV with quoted cells. */
function readRows(text: string): string[][] {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text[at + 1] === '"') cell += text[++at]
      else isQuoted = false
    } else if (letter === '"' && cell === '') isQuoted = true
    else if (letter === ',' || letter === '\n') {
      rows.at(-1)?.push(cell)
      cell = ''
      if (letter === '\n') rows.push([])
    } else if (letter !== '\r') cell += letter
  }
  rows.at(-1)?.push(cell)
  return rows
}
