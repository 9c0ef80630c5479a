import { shapeKeyword } from '@halyard/contract'

export type Json = Record<string, unknown>

/** Converts the schemas of the route table to OpenAPI; those with a title become named components. */
export interface ComponentSchemas {
  /** By name, as far as they were converted. */
  readonly components: Readonly<Record<string, Json>>
  convert(schema: unknown): Json
}

export function createComponentSchemas(): ComponentSchemas {
  const components: Record<string, Json> = {}
  const sources = new Map<string, string>()

  function convert(contractSchema: unknown): Json {
    const { [shapeKeyword]: shape, ...schema } = contractSchema as Json
    if (shape !== undefined) return { ...convert(shape), ...limitsOf(schema) }
    const { title, ...body } = schema
    return typeof title === 'string' ? named(title, body) : anonymous(body)
  }

  function named(title: string, body: Json): Json {
    const source = JSON.stringify(body)
    if (sources.has(title) && sources.get(title) !== source) throw new Error(`Two schemas are called ${title}.`)
    if (!sources.has(title)) {
      sources.set(title, source)
      // Reserves the position: a component comes before those that it refers to.
      components[title] = {}
      components[title] = anonymous(body)
    }
    return { $ref: `#/components/schemas/${title}` }
  }

  function anonymous({ anyOf, ...schema }: Json): Json {
    if (Array.isArray(anyOf)) return union(anyOf, schema)
    return Object.fromEntries(
      Object.entries(schema)
        .filter(([keyword]) => !keyword.startsWith('~'))
        .flatMap(([keyword, value]): [string, unknown][] => {
          if (keyword === '$ref') return [['$ref', `#/components/schemas/${value}`]]
          if (keyword === 'items') return [['items', convert(value)]]
          if (keyword === 'properties') {
            return [['properties', mapValues(value as Json, convert)]]
          }
          if (keyword === 'patternProperties') {
            const [values] = Object.values(value as Json)
            const converted = convert(values)
            return [['additionalProperties', Object.keys(converted).length > 0 ? converted : true]]
          }
          return [[keyword, value]]
        }),
    )
  }

  /** Literals become an enum, and null a second type: generators write better types from these than from `anyOf`. */
  function union(anyOf: readonly Json[], rest: Json): Json {
    const others = anyOf.filter(option => option.type !== 'null')
    const isNullable = others.length < anyOf.length
    const [only, ...more] = others
    const single = more.length === 0 ? convert(only) : literals(others)
    if (!single) return { anyOf: [...others.map(convert), ...(isNullable ? [{ type: 'null' }] : [])], ...rest }
    const { description, examples, ...schema } = single
    const notes = { ...(description !== undefined && { description }), ...(examples !== undefined && { examples }) }
    if (!isNullable) return { ...schema, ...notes, ...rest }
    if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }], ...notes, ...rest }
    return {
      ...schema,
      type: [schema.type, 'null'],
      ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
      ...notes,
      ...rest,
    }
  }

  return { components, convert }
}

/** What still applies beside the documented shape. */
const limitsOf = (schema: Json): Json =>
  Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword.startsWith('x-') || keyword === 'description'),
  )

function literals(options: readonly Json[]): Json | undefined {
  const [first] = options
  const isLiteral = options.every(option => 'const' in option && option.type === first?.type)
  return isLiteral ? { type: first?.type, enum: options.map(option => option.const) } : undefined
}

const mapValues = (record: Json, change: (value: unknown) => Json): Json =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
