import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export type Json = Record<string, unknown>

export interface Content {
  readonly schema: Json
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Json[]
  readonly parameters: readonly { name: string; description?: string; schema: Json; example?: unknown }[]
  readonly requestBody?: { readonly content: Record<string, Content> }
  readonly responses: Record<string, { $ref?: string; headers?: Json; content?: Record<string, Content> }>
}

/** The parts of the OpenAPI document that tests look at. */
export interface Document {
  readonly tags: readonly { name: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    readonly schemas: Record<string, Json>
    readonly responses: Record<string, { headers: Json; content: Record<string, Content> }>
    readonly securitySchemes: Json
  }
}

/** Returns what is wrong with a value under a schema of the document, or undefined. */
export function schemaChecker({ components }: Document): (schema: Json, value: unknown) => string | undefined {
  const ajv = addFormats.default(new Ajv2020({ strict: false, inlineRefs: false }))
  const within = (schema: unknown): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'))
  ajv.addSchema({ $id: 'openapi', components: { schemas: within(components.schemas) } })
  const compiled = new Map<string, ValidateFunction>()
  return (schema, value) => {
    const key = JSON.stringify(schema)
    const validate = compiled.get(key) ?? ajv.compile(within(schema))
    compiled.set(key, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }
}
