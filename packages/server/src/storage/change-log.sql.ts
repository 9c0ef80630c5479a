import type { CompiledQuery, Kysely } from 'kysely'
import type { Change, ChangeLog, ChangeTopic } from '../changes.ts'
import type { ChangeRow, Tables } from './tables.ts'

export function sqlChangeLog(db: Kysely<Tables>, onAppend: () => void = () => {}): ChangeLog {
  let listing: CompiledQuery<ChangeRow> | undefined
  return {
    async append(change) {
      // Taking the number locks its row until commit, so numbers are handed out in the order of commits: a reader that
      // has seen n never misses a smaller one that commits later.
      const { sequence } = await db
        .updateTable('change_head')
        .set(({ eb }) => ({ sequence: eb('sequence', '+', 1) }))
        .where('id', '=', 1)
        .returning('sequence')
        .executeTakeFirstOrThrow()
      await db
        .insertInto('changes')
        .values({
          sequence,
          topic: change.topic,
          organization_id: change.organizationId,
          project_id: change.projectId,
          entity_id: change.entityId,
          at: change.at,
        })
        .execute()
      onAppend()
    },
    async listAfter(sequence, limit) {
      // Asked at every request: the statement is made once.
      listing ??= db
        .selectFrom('changes')
        .selectAll()
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .compile()
      const { rows } = await db.executeQuery<ChangeRow>({ ...listing, parameters: [sequence, limit] })
      return rows.map(toChange)
    },
    async head() {
      const row = await db.selectFrom('change_head').select('sequence').where('id', '=', 1).executeTakeFirst()
      return row?.sequence ?? 0
    },
    listOldest: limit => db.selectFrom('changes').select(['sequence', 'at']).orderBy('sequence').limit(limit).execute(),
    async removeUpTo(sequence) {
      await db.deleteFrom('changes').where('sequence', '<=', sequence).execute()
    },
  }
}

const toChange = (row: ChangeRow): Change => ({
  sequence: row.sequence,
  topic: row.topic as ChangeTopic,
  organizationId: row.organization_id,
  projectId: row.project_id,
  entityId: row.entity_id,
  at: row.at,
})
