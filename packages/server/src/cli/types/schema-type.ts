/** The TypeScript type of a payload schema, as text. */
export function schemaType(schema: Readonly<Record<string, unknown>>): string {
  const { type, enum: values, anyOf } = schema
  if (Object.hasOwn(schema, 'const')) return literal(schema.const)
  if (Array.isArray(values)) return union(values.map(literal))
  if (Array.isArray(anyOf)) return union(anyOf.map(option => schemaType({ ...shared(schema), ...option })))
  if (Array.isArray(type)) return union(type.map(one => schemaType({ ...schema, type: one })))
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `Array<${isRecord(schema.items) ? schemaType(schema.items) : 'Json'}>`
    case 'object':
      return objectType(schema)
    default:
      return isRecord(schema.properties) ? objectType(schema) : 'Json'
  }
}

/** Next to `anyOf`, only the type itself restricts the options. */
const shared = ({ type }: Readonly<Record<string, unknown>>) => (type === undefined ? {} : { type })

function objectType({ properties, required, additionalProperties }: Readonly<Record<string, unknown>>): string {
  const others = isRecord(additionalProperties) ? schemaType(additionalProperties) : 'Json'
  if (!isRecord(properties) || Object.keys(properties).length === 0) {
    return additionalProperties === false ? 'Record<string, never>' : `Record<string, ${others}>`
  }
  const needed = new Set(Array.isArray(required) ? required : [])
  const fields = Object.entries(properties).map(([name, schema]) => {
    return `${nameOf(name)}${needed.has(name) ? '' : '?'}: ${schemaType(schema as Record<string, unknown>)}`
  })
  return `{ ${fields.join('; ')} }`
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never'

/** A JSON value as a type. */
function literal(value: unknown): string {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (!isRecord(value)) return String(value)
  return `{ ${Object.entries(value)
    .map(([name, item]) => `${nameOf(name)}: ${literal(item)}`)
    .join('; ')} }`
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A string literal in single quotes. Line separators are escaped by JSON in no version. */
export const text = (value: string): string =>
  `'${JSON.stringify(value)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')}'`

export const nameOf = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : text(key))
