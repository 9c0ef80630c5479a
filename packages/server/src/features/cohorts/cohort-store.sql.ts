import { behaviorsIn, type CohortDefinition } from '@halyard/engine'
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Authorization } from '../../domain/authorization.ts'
import { type Cohort, type CohortFilter, notCalculated } from '../../domain/cohort.ts'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { insertRowsWithIds } from '../../storage/bulk-rows.ts'
import { readPage } from '../../storage/read-page.ts'
import { saveVersioned } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { unindexed } from '../../storage/unindexed.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import { countsEvents } from './behavior/counted-event.ts'
import { sqlCountedEventStore } from './behavior/counted-event-store.sql.ts'
import { sqlEventHistoryStore } from './behavior/event-history-store.sql.ts'

export function sqlCohortStore(db: Kysely<Tables>) {
  const cohorts = () =>
    db
      .selectFrom('cohorts')
      .innerJoin('users as creator', 'creator.id', 'cohorts.created_by_id')
      .leftJoin('cohort_jobs', 'cohort_jobs.cohort_id', 'cohorts.id')
      .selectAll('cohorts')
      .select(embeddedUser('creator'))
      .select(['cohort_jobs.processed as job_processed', 'cohort_jobs.total as job_total'])

  return {
    async create(cohort: Omit<Cohort, 'id' | 'calculation'>): Promise<Cohort> {
      const { id } = await db.insertInto('cohorts').values(newRow(cohort)).returning('id').executeTakeFirstOrThrow()
      return { ...cohort, id, calculation: notCalculated }
    },
    /** In the order of the cohorts. */
    async createAll(created: readonly Omit<Cohort, 'id' | 'calculation'>[]): Promise<readonly Cohort[]> {
      const ids = await insertRowsWithIds(db, 'cohorts', created.map(newRow))
      return created.map((cohort, index) => ({ ...cohort, id: ids[index]!, calculation: notCalculated }))
    },
    /** Saves the content. Throws `StaleWrite` unless the version is exactly one above the stored one. */
    async save(cohort: Cohort, _authorization: Authorization): Promise<void> {
      await saveVersioned(db, 'cohorts', cohort.id, contentColumns(cohort))
    },
    async find(projectId: number, cohortId: number): Promise<Cohort | undefined> {
      const row = await cohorts()
        .where('cohorts.project_id', '=', projectId)
        .where('cohorts.id', '=', cohortId)
        .executeTakeFirst()
      return row && (await withCountedEvents(db, projectId, [toCohort(row)]))[0]
    },
    /** Whether a live cohort has a filter on a flag. */
    async anyRefersToFlags(projectId: number): Promise<boolean> {
      const row = await db
        .selectFrom('cohorts')
        .select('id')
        .where('project_id', '=', projectId)
        .where('deleted', '=', 0)
        .where('filters', 'like', '%"type":"flag"%')
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    /** Cohorts by id, without deleted and unknown ones. */
    async findLive(projectId: number, cohortIds: readonly number[]): Promise<readonly Cohort[]> {
      if (cohortIds.length === 0) return []
      const rows = await cohorts()
        .where('cohorts.id', 'in', cohortIds)
        .where(unindexed('cohorts.project_id'), '=', projectId)
        .where('cohorts.deleted', '=', 0)
        .execute()
      return rows.map(toCohort)
    },
    /** Newest first. */
    async list(projectId: number, filter: CohortFilter, window: Window): Promise<PageOf<Cohort>> {
      const query = cohorts()
        .where(matching(projectId, filter))
        .orderBy('cohorts.created_at', 'desc')
        .orderBy('cohorts.id', 'desc')
      const page = await readPage(query, window, toCohort)
      return { ...page, items: await withCountedEvents(db, projectId, page.items) }
    },
    /** Stores the result of counting or filling: an error, or success with this count. */
    async saveCalculation(
      cohortId: number,
      { count, at, error }: { readonly count?: number; readonly at: Instant; readonly error: string | null },
    ): Promise<void> {
      await db
        .updateTable('cohorts')
        .set(({ eb }) => ({
          ...(count !== undefined && { people_count: count }),
          ...(error === null ? { last_calculation: at, errors_calculating: 0 } : {}),
          ...(error !== null && { errors_calculating: eb('errors_calculating', '+', 1) }),
          last_error: error,
        }))
        .where('id', '=', cohortId)
        .execute()
    },
    /** The members of a static cohort are counted in its row, so that listing cohorts does not count them. */
    async addToCount(cohortId: number, added: number): Promise<void> {
      if (added === 0) return
      await db
        .updateTable('cohorts')
        .set({ people_count: sql`coalesce(people_count, 0) + ${added}` })
        .where('id', '=', cohortId)
        .execute()
    },
    /** Dynamic cohorts of all projects last counted before an instant, or never, and without a queued job. Not deleted ones. */
    async listDynamicNotCounted(since: Instant, limit: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('cohorts')
        .leftJoin('cohort_jobs', 'cohort_jobs.cohort_id', 'cohorts.id')
        .select('cohorts.id')
        .where('cohorts.is_static', '=', 0)
        .where('cohorts.deleted', '=', 0)
        .where(eb => eb.or([eb('cohorts.last_calculation', 'is', null), eb('cohorts.last_calculation', '<', since)]))
        .where('cohort_jobs.cohort_id', 'is', null)
        .orderBy('cohorts.last_calculation')
        .limit(limit)
        .execute()
      return rows.map(row => row.id)
    },
    /** Definitions of all cohorts of the project that are not deleted, ordered by id. */
    async listDefinitions(projectId: number): Promise<readonly CohortDefinition[]> {
      const rows = await db
        .selectFrom('cohorts')
        .select(['id', 'name', 'is_static', 'filters'])
        .where('project_id', '=', projectId)
        .where('deleted', '=', 0)
        .orderBy('id')
        .execute()
      return rows.map(row => ({
        id: row.id,
        name: row.name,
        isStatic: row.is_static === 1,
        filters: JSON.parse(row.filters),
      }))
    },
  }
}

/** Only cohorts with behavioral filters cost a read. */
async function withCountedEvents(
  db: Kysely<Tables>,
  projectId: number,
  cohorts: readonly Cohort[],
): Promise<readonly Cohort[]> {
  if (!cohorts.some(countsEvents)) return cohorts
  const live = await sqlCountedEventStore(db).listLive(projectId)
  const histories = await sqlEventHistoryStore(db).listProgress(projectId)
  return cohorts.map(cohort => {
    if (!countsEvents(cohort)) return cohort
    const names = new Set(behaviorsIn(cohort.filters).map(({ event }) => event))
    const countedEvents = [...names].sort().flatMap(event => {
      const counted = live.get(event)
      return counted ? [{ event, countedSince: counted.countedSince, history: histories.get(event) }] : []
    })
    return { ...cohort, calculation: { ...cohort.calculation, countedEvents } }
  })
}

const newRow = (cohort: Omit<Cohort, 'id' | 'calculation'>) => ({
  project_id: cohort.projectId,
  ...contentColumns(cohort),
  is_static: Number(cohort.isStatic),
  created_by_id: cohort.createdBy.id,
  created_at: cohort.createdAt,
  errors_calculating: 0,
})

const matching = (projectId: number, filter: CohortFilter) => () => {
  const conditions = [sql<boolean>`cohorts.project_id = ${projectId}`, sql`cohorts.deleted = ${Number(filter.deleted)}`]
  if (filter.isStatic !== undefined) conditions.push(sql`cohorts.is_static = ${Number(filter.isStatic)}`)
  if (filter.search) {
    conditions.push(contains('cohorts.name', filter.search))
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const contentColumns = (cohort: Omit<Cohort, 'id' | 'calculation'>) => ({
  name: cohort.name,
  description: cohort.description,
  filters: JSON.stringify(cohort.filters),
  deleted: Number(cohort.deleted),
  updated_at: cohort.updatedAt,
  version: cohort.version,
})

type CohortJoin = Selectable<Tables['cohorts']> &
  EmbeddedUser<'creator'> & { job_processed: number | null; job_total: number | null }

const toCohort = (row: CohortJoin): Cohort => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  description: row.description,
  filters: JSON.parse(row.filters),
  isStatic: row.is_static === 1,
  deleted: row.deleted === 1,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
  calculation: {
    count: row.people_count,
    lastCalculation: row.last_calculation,
    errors: row.errors_calculating,
    lastError: row.last_error,
    job: row.job_processed === null ? undefined : { processed: row.job_processed, total: row.job_total },
    countedEvents: [],
  },
})
