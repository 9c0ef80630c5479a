import Type, { type TSchema } from 'typebox'

/** The few schema words that every resource uses. */
export const FreeObject = (description?: string) =>
  Type.Record(Type.String(), Type.Unknown(), description ? { description } : {})
export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
export const Instant = (description = 'ISO 8601 date-time in UTC.') => Type.String({ format: 'date-time', description })
export const Uuid = () => Type.String({ format: 'uuid' })
/** An integer id in a path. Anything else is simply not found. */
export const IdParam = () => Type.String({ pattern: '^[0-9]{1,15}$' })

export const ProjectParams = Type.Object({
  project_id: Type.String({ description: 'Project id, or `@current`.' }),
})
export const OrganizationParams = Type.Object({
  parent_lookup_organization_id: Type.String({ description: 'Organization id, or `@current`.' }),
})
