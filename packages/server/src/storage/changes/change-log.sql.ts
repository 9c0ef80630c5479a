import { type Kysely, type QueryCreator, type Selectable, sql } from 'kysely'
import { insertRows } from '../bulk-rows.ts'
import { isSqlite, pipelinedWrite, preparedQuery } from '../prepared-query.ts'
import type { Tables } from '../tables.generated.ts'
import type { Change, ChangeTopic, NewChange } from './changes.ts'

// Advancing the head locks its row until commit, so sequences are assigned in commit order: a reader that has seen n never misses a
// smaller one that commits later. Every writer of the installation needs this lock, so it is taken last.
const advanceHead = (db: QueryCreator<Tables>, count: number) =>
  db
    .updateTable('change_head')
    .set(({ eb }) => ({ sequence: eb('sequence', '+', count) }))
    .where('id', '=', 1)
    .returning('sequence')

const takeSequences = preparedQuery((db, { count }: { count: number }) => advanceHead(db, count))

/** The columns of several changes, each as an array. */
interface ChangeColumns {
  readonly count: number
  readonly topics: readonly string[]
  readonly organizationIds: readonly (string | null)[]
  readonly projectIds: readonly (number | null)[]
  readonly entityIds: readonly string[]
  readonly times: readonly string[]
}

/** One statement for any number of changes; PostgreSQL only. */
const appendNumbered = pipelinedWrite((db, columns: ChangeColumns) =>
  db
    .with('head', creator => advanceHead(creator, columns.count))
    .insertInto('changes')
    .columns(['sequence', 'topic', 'organization_id', 'project_id', 'entity_id', 'at'])
    .expression(
      sql`select head.sequence - cast(${columns.count} as integer) + change.position, change.topic,
        change.organization_id, change.project_id, change.entity_id, change.at
        from head, unnest(${columns.topics}::text[], ${columns.organizationIds}::text[],
          ${columns.projectIds}::integer[], ${columns.entityIds}::text[], ${columns.times}::text[])
          with ordinality as change(topic, organization_id, project_id, entity_id, at, position)`,
    ),
)

/** Appends in order. Called once, directly before the commit. */
export async function appendChanges(db: Kysely<Tables>, changes: readonly NewChange[]): Promise<void> {
  const count = changes.length
  if (count === 0) return
  if (!isSqlite(db)) {
    await appendNumbered(db, {
      count,
      topics: changes.map(change => change.topic),
      organizationIds: changes.map(change => change.organizationId),
      projectIds: changes.map(change => change.projectId),
      entityIds: changes.map(change => change.entityId),
      times: changes.map(change => change.at),
    })
    return
  }
  const { rows } = await takeSequences(db, { count })
  const first = rows[0]!.sequence - count + 1
  await insertRows(
    db,
    'changes',
    changes.map((change, index) => ({ ...fromChange(change), sequence: first + index })),
  )
}

const changesAfter = preparedQuery((db, { sequence, limit }: { sequence: number; limit: number }) =>
  db.selectFrom('changes').selectAll().where('sequence', '>', sequence).orderBy('sequence').limit(limit),
)

const newestChange = preparedQuery(db => db.selectFrom('change_head').select('sequence').where('id', '=', 1))

/** `onAppend` retains what is appended until the transaction commits; see `appendChanges`. */
export function sqlChangeLog(db: Kysely<Tables>, onAppend?: (change: NewChange) => void) {
  return {
    /** Written directly before the commit, in commit order: the sequence of a change that commits later is always greater. */
    async append(change: NewChange): Promise<void> {
      if (!onAppend) throw new Error('Changes are appended within a transaction.')
      onAppend(change)
    },
    /** Changes after a sequence, oldest first, at most `limit`. */
    async listAfter(sequence: number, limit: number): Promise<readonly Change[]> {
      const { rows } = await changesAfter(db, { sequence, limit })
      return rows.map(toChange)
    },
    /** The sequence of the newest committed change; 0 when there is none. */
    async head(): Promise<number> {
      const { rows } = await newestChange(db, {})
      return rows[0]?.sequence ?? 0
    },
    /** Whether definitions or access in one of the projects, or of their organization, have changed after a sequence. */
    async hasChanged(organizationId: string, projectIds: readonly number[], sequence: number): Promise<boolean> {
      const change = await db
        .selectFrom('changes')
        .select('sequence')
        .where('sequence', '>', sequence)
        .where('topic', 'in', ['flag', 'cohort', 'project', 'access'] satisfies ChangeTopic[])
        .where('organization_id', '=', organizationId)
        .where(({ or, eb }) => or([eb('project_id', 'is', null), ...projectIds.map(id => eb('project_id', '=', id))]))
        .limit(1)
        .executeTakeFirst()
      return change !== undefined
    },
    /** The oldest that are retained, at most `limit`. */
    listOldest: (limit: number): Promise<readonly Pick<Change, 'sequence' | 'at'>[]> =>
      db.selectFrom('changes').select(['sequence', 'at']).orderBy('sequence').limit(limit).execute(),
    /** Deletes the changes up to a sequence. A reader that has not seen them finds the gap. */
    async removeUpTo(sequence: number): Promise<void> {
      await db.deleteFrom('changes').where('sequence', '<=', sequence).execute()
    },
  }
}

export type ChangeLog = ReturnType<typeof sqlChangeLog>

const fromChange = (change: Omit<Change, 'sequence'>): Omit<Selectable<Tables['changes']>, 'sequence'> => ({
  topic: change.topic,
  organization_id: change.organizationId,
  project_id: change.projectId,
  entity_id: change.entityId,
  at: change.at,
})

const toChange = (row: Tables['changes']): Change => ({
  sequence: row.sequence,
  topic: row.topic as ChangeTopic,
  organizationId: row.organization_id,
  projectId: row.project_id,
  entityId: row.entity_id,
  at: row.at,
})
