import Type, { type TProperties, type TSchema } from 'typebox'

/** Schemas that every resource uses. */

const documented = (description?: string, example?: unknown) => ({
  ...(description !== undefined && { description }),
  ...(example !== undefined && { examples: [example] }),
})

/** Values without limits of their own, as most of a response. */
export const FreeObject = (description?: string, example?: object | null) =>
  Type.Record(Type.String(), Type.Unknown(), documented(description, example))
export const Text = (description: string, example?: string | null) => Type.String(documented(description, example))
export const Integer = (description: string, example?: number | null) => Type.Integer(documented(description, example))
export const Numeric = (description: string, example?: number | null) => Type.Number(documented(description, example))
export const Bool = (description: string, example?: boolean | null) => Type.Boolean(documented(description, example))

/** Text in a request. */
export const TextInput = (charactersMax: number, description: string, example?: string | null) =>
  Type.String({ maxLength: charactersMax, ...documented(description, example) })
export const NonEmptyTextInput = (charactersMax: number, description: string, example?: string) =>
  Type.String({ minLength: 1, maxLength: charactersMax, ...documented(description, example) })

export const List = <S extends TSchema>(item: S, description: string, example?: readonly unknown[]) =>
  Type.Array(item, documented(description, example))

export const ObjectOf = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description })

/** An object that the API reference and generated clients know by its title. */
export const NamedObject = <P extends TProperties>(
  title: string,
  description: string,
  properties: P,
  example?: object,
) => Type.Object(properties, { title, ...documented(description, example) })

/** The documented shape of a value that is validated less strictly than it is documented: elsewhere, or not at all. */
export const shapeKeyword = 'x-shape'

/** In the schema of a request: how many bytes of JSON a free-form value may have. JSON Schema has no word for it. */
export const bytesMaxKeyword = 'x-bytes-max'
const bounded = (bytesMax: number, description?: string, example?: unknown) => ({
  [bytesMaxKeyword]: bytesMax,
  ...documented(description, example),
})
export const kibibyte = 1024
export const mebibyte = 1024 * 1024
/** Free-form JSON in a request. */
export const FreeObjectInput = (bytesMax: number, description?: string, example?: object) =>
  Type.Record(Type.String(), Type.Unknown(), bounded(bytesMax, description, example))
/** An object of the documented shape; unknown keys are allowed. */
export const ShapedObject = (shape: TSchema) => Type.Record(Type.String(), Type.Unknown(), { [shapeKeyword]: shape })
export const ShapedObjectInput = (shape: TSchema, bytesMax: number) =>
  Type.Record(Type.String(), Type.Unknown(), { ...bounded(bytesMax), [shapeKeyword]: shape })
export const FreeListInput = (itemsMax: number, bytesMax: number, description?: string, example?: unknown[]) =>
  Type.Array(Type.Unknown(), { maxItems: itemsMax, ...bounded(bytesMax, description, example) })
export const FreeValueInput = (bytesMax: number, description?: string, example?: unknown) =>
  Type.Unknown(bounded(bytesMax, description, example))
export const TagsInput = (description?: string, example?: unknown[]) =>
  FreeListInput(1000, 64 * kibibyte, description, example)
/** Text that is parsed as a date-time by the server. */
export const InstantInput = (description?: string) =>
  Type.String({ maxLength: 64, ...documented(description, '2026-03-01T09:30:00.000Z') })
/** An id or UUID in a request body; unknown ones are reported as such. */
export const IdInput = (description?: string) =>
  Type.String({ maxLength: 64, ...documented(description, '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d') })
/** The description of a resource. */
export const descriptionCharactersMax = 10_000

export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

interface Described {
  readonly description?: string
  readonly examples?: readonly unknown[]
}
/** One of these texts in a response, typed as their union. */
export const OneOf = <const T extends string>(texts: readonly T[], described: Described) =>
  Type.Unsafe<T>({ type: 'string', enum: [...texts], ...described })
/** One of these texts in a request. */
export const OneOfInput = <const T extends string>(texts: readonly T[], described: Described) =>
  Type.Union(
    texts.map(text => Type.Literal(text)),
    { ...described },
  ) as unknown as ReturnType<typeof Type.Unsafe<T>>

export const Instant = (description = 'ISO 8601 date-time in UTC.', example?: string | null) =>
  Type.String({ format: 'date-time', ...documented(description, example) })
export const Uuid = (description?: string) => Type.String({ format: 'uuid', ...documented(description) })
/** An integer id in a path. Anything else is 404. */
export const IdParam = (description: string) =>
  Type.String({ pattern: '^[0-9]{1,15}$', [shapeKeyword]: Type.Integer({ minimum: 0, description, examples: [12] }) })

/** The body of a response that stays open. */
export const EventStream = () => Text('Server-sent events.', 'event: open\ndata: {}\n\n')

export const ProjectParams = Type.Object({ project_id: Text('Project id, or `@current`.', '1') })
export const OrganizationParams = Type.Object({
  parent_lookup_organization_id: Text('Organization id, or `@current`.', '@current'),
})
