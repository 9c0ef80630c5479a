import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import { inParts } from '../../storage/in-batches.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Definition, DefinitionKind, Observed, ObservedValue, PropertyType, StoredValue } from './definition.ts'

const rowsPerInsertMax = 1000

export function sqlDefinitionStore(db: Kysely<Tables>) {
  return {
    /** Sorted by name; all kinds without `kind`. */
    async list(projectId: number, kind?: DefinitionKind): Promise<readonly Definition[]> {
      let query = db.selectFrom('definitions').selectAll().where('project_id', '=', projectId)
      if (kind) query = query.where('kind', '=', kind)
      const rows = await query.orderBy('kind').orderBy('name').execute()
      return rows.map(
        (row): Definition => ({
          kind: row.kind as DefinitionKind,
          name: row.name,
          type: row.property_type as PropertyType | null,
          createdAt: row.created_at,
          lastSeenAt: row.last_seen_at,
        }),
      )
    },
    /** Values of all event properties, or of one. */
    async listValues(projectId: number, name?: string): Promise<readonly StoredValue[]> {
      let query = db.selectFrom('definition_values').selectAll().where('project_id', '=', projectId)
      if (name !== undefined) query = query.where('name', '=', name)
      const rows = await query.orderBy('name').orderBy('value').execute()
      return rows.map(row => ({ name: row.name, value: JSON.parse(row.value), lastSeenAt: row.last_seen_at }))
    },
    /** Creates them or renews when they were last seen. */
    async save(
      projectId: number,
      observed: readonly Observed[],
      values: readonly ObservedValue[],
      at: Instant,
    ): Promise<void> {
      const definitions = observed.map(({ kind, name, type }) => ({
        project_id: projectId,
        kind,
        name,
        property_type: type,
        created_at: at,
        last_seen_at: at,
      }))
      for (const part of inParts(
        inOrder(definitions, row => `${row.kind}\u0001${row.name}`),
        rowsPerInsertMax,
      )) {
        await db
          .insertInto('definitions')
          .values(part)
          .onConflict(conflict =>
            conflict.columns(['project_id', 'kind', 'name']).doUpdateSet(({ ref }) => ({
              property_type: ref('excluded.property_type'),
              last_seen_at: ref('excluded.last_seen_at'),
            })),
          )
          .execute()
      }
      const rows = values.map(({ name, value }) => ({
        project_id: projectId,
        name,
        value: JSON.stringify(value),
        last_seen_at: at,
      }))
      for (const part of inParts(
        inOrder(rows, row => `${row.name}\u0001${row.value}`),
        rowsPerInsertMax,
      )) {
        await db
          .insertInto('definition_values')
          .values(part)
          .onConflict(conflict =>
            conflict
              .columns(['project_id', 'name', 'value'])
              .doUpdateSet(({ ref }) => ({ last_seen_at: ref('excluded.last_seen_at') })),
          )
          .execute()
      }
    },
    async removeBefore(definitions: Instant, values: Instant): Promise<void> {
      await db.deleteFrom('definitions').where('last_seen_at', '<', definitions).execute()
      await db.deleteFrom('definition_values').where('last_seen_at', '<', values).execute()
    },
  }
}

export type DefinitionStore = ReturnType<typeof sqlDefinitionStore>

/** A fixed lock order, so that two nodes cannot deadlock. */
const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): readonly T[] =>
  rows
    .map(row => ({ row, key: keyOf(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ row }) => row)
