import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { readPage } from '../../../storage/read-page.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { JsonSchema, StoredPayloadSchema } from './payload-schema.ts'

export function sqlPayloadSchemaStore(db: Kysely<Tables>) {
  const schemas = (projectId: number) =>
    db
      .selectFrom('payload_schemas')
      .innerJoin('flags', 'flags.id', 'payload_schemas.flag_id')
      .select(['payload_schemas.flag_id', 'flags.key', 'payload_schemas.schema', 'payload_schemas.updated_at'])
      .where('payload_schemas.project_id', '=', projectId)

  return {
    async find(projectId: number, flagId: number): Promise<StoredPayloadSchema | undefined> {
      const row = await schemas(projectId).where('payload_schemas.flag_id', '=', flagId).executeTakeFirst()
      return row && toSchema(row)
    },
    /** Of the flags that are not deleted, by flag id. */
    list(projectId: number, window: Window): Promise<PageOf<StoredPayloadSchema>> {
      const live = schemas(projectId).where('flags.deleted', '=', 0).orderBy('payload_schemas.flag_id')
      return readPage(live, window, toSchema)
    },
    async save(projectId: number, flagId: number, schema: JsonSchema, now: Instant): Promise<void> {
      const values = { schema: JSON.stringify(schema), updated_at: now }
      await db
        .insertInto('payload_schemas')
        .values({ flag_id: flagId, project_id: projectId, ...values })
        .onConflict(conflict => conflict.column('flag_id').doUpdateSet(values))
        .execute()
    },
    async remove(projectId: number, flagId: number): Promise<void> {
      await db.deleteFrom('payload_schemas').where('flag_id', '=', flagId).where('project_id', '=', projectId).execute()
    },
  }
}

const toSchema = (row: { flag_id: number; key: string; schema: string; updated_at: string }): StoredPayloadSchema => ({
  flagId: row.flag_id,
  flagKey: row.key,
  schema: JSON.parse(row.schema),
  updatedAt: row.updated_at,
})
