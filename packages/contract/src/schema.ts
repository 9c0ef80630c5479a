import Type, { type TSchema } from 'typebox'

/** Schemas that every resource uses. */
export const FreeObject = (description?: string) =>
  Type.Record(Type.String(), Type.Unknown(), description ? { description } : {})

/** In the schema of a request: how many bytes of JSON a free-form value may have. JSON Schema has no word for it. */
export const bytesMaxKeyword = 'x-bytes-max'
const bounded = (bytesMax: number, description?: string) => ({
  [bytesMaxKeyword]: bytesMax,
  ...(description !== undefined && { description }),
})
export const kibibyte = 1024
export const mebibyte = 1024 * 1024
/** Free-form JSON in a request. */
export const FreeObjectInput = (bytesMax: number, description?: string) =>
  Type.Record(Type.String(), Type.Unknown(), bounded(bytesMax, description))
export const FreeListInput = (itemsMax: number, bytesMax: number, description?: string) =>
  Type.Array(Type.Unknown(), { maxItems: itemsMax, ...bounded(bytesMax, description) })
export const FreeValueInput = (bytesMax: number) => Type.Unknown(bounded(bytesMax))
export const TagsInput = () => FreeListInput(1000, 64 * kibibyte)
/** Text that is parsed as a date-time by the server. */
export const InstantInput = (description?: string) =>
  Type.String({ maxLength: 64, ...(description && { description }) })
/** An id or UUID in a request body; unknown ones are reported as such. */
export const IdInput = () => Type.String({ maxLength: 64 })
/** The description of a resource. */
export const descriptionCharactersMax = 10_000

export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
export const Instant = (description = 'ISO 8601 date-time in UTC.') => Type.String({ format: 'date-time', description })
export const Uuid = () => Type.String({ format: 'uuid' })
/** An integer id in a path. Anything else is 404. */
export const IdParam = () => Type.String({ pattern: '^[0-9]{1,15}$' })

export const ProjectParams = Type.Object({
  project_id: Type.String({ description: 'Project id, or `@current`.' }),
})
export const OrganizationParams = Type.Object({
  parent_lookup_organization_id: Type.String({ description: 'Organization id, or `@current`.' }),
})
