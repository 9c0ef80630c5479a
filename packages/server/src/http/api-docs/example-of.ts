import { shapeKeyword } from '@halyard/contract'
import type { Json } from './component-schemas.ts'

/** A value of the schema: its own example, or one that is composed from its parts. */
export function exampleOf(contractSchema: unknown): unknown {
  const schema = contractSchema as Json
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if (schema[shapeKeyword] !== undefined) return exampleOf(schema[shapeKeyword])
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.anyOf)) return exampleOf(schema.anyOf[0])
  switch (schema.type) {
    case 'object':
      return exampleObject(schema)
    case 'array':
      return [exampleOf(schema.items)]
    case 'string':
      return formats[String(schema.format)] ?? 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return null
  }
}

/** Optional properties are part of it when they have an example. */
function exampleObject({ properties = {}, required = [] }: Json): Json {
  return Object.fromEntries(
    Object.entries(properties as Record<string, Json>)
      .filter(([name, schema]) => (required as string[]).includes(name) || hasExample(schema))
      .map(([name, schema]) => [name, exampleOf(schema)]),
  )
}

function hasExample(schema: Json): boolean {
  const shape = schema[shapeKeyword]
  return 'examples' in schema || (shape !== undefined && hasExample(shape as Json))
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-03-01T09:30:00.000Z',
  email: 'ada@example.com',
  uuid: '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d',
}
