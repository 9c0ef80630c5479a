import { type Kysely, type QueryCreator, sql } from 'kysely'
import { isSqlite, pipelinedWrite, preparedQuery } from '../prepared-query.ts'
import type { ChangeRow, Tables } from '../tables.ts'
import type { Change, ChangeLog, ChangeTopic } from './changes.ts'

// Taking the number locks its row until commit, so numbers are handed out in the order of commits: a reader that has seen n never
// misses a smaller one that commits later.
const nextNumber = (db: QueryCreator<Tables>) =>
  db
    .updateTable('change_head')
    .set(({ eb }) => ({ sequence: eb('sequence', '+', 1) }))
    .where('id', '=', 1)
    .returning('sequence')

const takeNumber = preparedQuery(nextNumber)

/** Both at once, which SQLite cannot say; nobody has to wait for the number. */
const appendNumbered = pipelinedWrite((db, row: Omit<ChangeRow, 'sequence'>) =>
  db
    .with('head', nextNumber)
    .insertInto('changes')
    .columns(['sequence', 'topic', 'organization_id', 'project_id', 'entity_id', 'at'])
    .expression(({ selectFrom }) =>
      selectFrom('head').select([
        'head.sequence',
        sql<string>`${row.topic}`.as('topic'),
        sql<string>`${row.organization_id}`.as('organization_id'),
        sql<number>`${row.project_id}`.as('project_id'),
        sql<string>`${row.entity_id}`.as('entity_id'),
        sql<string>`${row.at}`.as('at'),
      ]),
    ),
)

const insertChange = preparedQuery((db, row: ChangeRow) => db.insertInto('changes').values(row))

const changesAfter = preparedQuery((db, { sequence, limit }: { sequence: number; limit: number }) =>
  db.selectFrom('changes').selectAll().where('sequence', '>', sequence).orderBy('sequence').limit(limit),
)

const newestChange = preparedQuery(db => db.selectFrom('change_head').select('sequence').where('id', '=', 1))

export function sqlChangeLog(db: Kysely<Tables>, onAppend: () => void = () => {}): ChangeLog {
  return {
    async append(change) {
      if (isSqlite(db)) {
        const { rows } = await takeNumber(db, {})
        await insertChange(db, { ...fromChange(change), sequence: rows[0]!.sequence })
      } else await appendNumbered(db, fromChange(change))
      onAppend()
    },
    async listAfter(sequence, limit) {
      const { rows } = await changesAfter(db, { sequence, limit })
      return rows.map(toChange)
    },
    async head() {
      const { rows } = await newestChange(db, {})
      return rows[0]?.sequence ?? 0
    },
    listOldest: limit => db.selectFrom('changes').select(['sequence', 'at']).orderBy('sequence').limit(limit).execute(),
    async removeUpTo(sequence) {
      await db.deleteFrom('changes').where('sequence', '<=', sequence).execute()
    },
  }
}

const fromChange = (change: Omit<Change, 'sequence'>): Omit<ChangeRow, 'sequence'> => ({
  topic: change.topic,
  organization_id: change.organizationId,
  project_id: change.projectId,
  entity_id: change.entityId,
  at: change.at,
})

const toChange = (row: ChangeRow): Change => ({
  sequence: row.sequence,
  topic: row.topic as ChangeTopic,
  organizationId: row.organization_id,
  projectId: row.project_id,
  entityId: row.entity_id,
  at: row.at,
})
