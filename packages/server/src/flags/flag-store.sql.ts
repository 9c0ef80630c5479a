import { type Kysely, type Selectable, sql } from 'kysely'
import {
  type EmbeddedUser,
  embeddedUser,
  type OptionalUser,
  readOptionalUser,
  readUser,
} from '../identity/embedded-user.sql.ts'
import { invalid } from '../problem.ts'
import { sqlChangeLog } from '../storage/change-log.sql.ts'
import { alreadyTaken } from '../storage/driver-error.ts'
import { keptStatement } from '../storage/kept-statement.ts'
import { countRows, readPage } from '../storage/read-page.ts'
import type { FlagRow, FlagVersionRow, Tables } from '../storage/tables.ts'
import { unindexed } from '../storage/unindexed.ts'
import { StaleWrite } from '../stores.ts'
import { type Flag, isFullyRolledOut, isMultivariant } from './flag.ts'
import type { FlagCounts } from './flag-counts.ts'
import type { FlagFilter, FlagLimits, FlagStore, FlagVersion } from './flag-store.ts'

/** Filters up to this are bounded by the number of flags; only larger ones are added up. */
const smallFiltersBytesMax = 4096

const flagsIn = (db: Kysely<Tables>) =>
  db
    .selectFrom('flags')
    .innerJoin('users as creator', 'creator.id', 'flags.created_by_id')
    .leftJoin('users as editor', 'editor.id', 'flags.last_modified_by_id')
    .selectAll('flags')
    .select([...embeddedUser('creator'), ...embeddedUser('editor')])

const insertFlag = keptStatement((db, row: NewFlagRow) => db.insertInto('flags').values(row).returning('id'))

const updateFlag = keptStatement((db, { id, stored, ...row }: NewFlagRow & { id: number; stored: number }) =>
  db.updateTable('flags').set(row).where('id', '=', id).where('version', '=', stored),
)

const findFlag = keptStatement((db, { projectId, flagId }: { projectId: number; flagId: number }) =>
  flagsIn(db).where('flags.project_id', '=', projectId).where('flags.id', '=', flagId),
)

const insertVersion = keptStatement((db, row: FlagVersionRow) => db.insertInto('flag_versions').values(row))

/** A literal, so that both databases see that the partial index of live keys fits. */
const isLive = sql<boolean>`flags.deleted = 0`

export function sqlFlagStore(db: Kysely<Tables>, counts: FlagCounts, limits?: FlagLimits): FlagStore {
  const flags = () => flagsIn(db)

  const versions = (flagId: number) =>
    db
      .selectFrom('flag_versions')
      .leftJoin('users as editor', 'editor.id', 'flag_versions.user_id')
      .selectAll('flag_versions')
      .select(embeddedUser('editor'))
      .where('flag_versions.flag_id', '=', flagId)

  const live = (projectId: number) =>
    db.selectFrom('flags').where('project_id', '=', projectId).where('deleted', '=', sql.lit(0))

  /** Counts only when there might be too many. */
  async function checkCount(projectId: number, added: number, max: number): Promise<void> {
    const newestChange = await sqlChangeLog(db).head()
    if (counts.atMost(projectId, newestChange) + added <= max) return
    const count = await countRows(live(projectId))
    counts.keep(projectId, count, newestChange)
    if (count + added > max) throw tooManyFlags(max)
  }

  return {
    async create(flag) {
      try {
        const { rows } = await insertFlag(db, fromFlag(flag))
        return { ...flag, id: rows[0]!.id }
      } catch (error) {
        throw takenKey(error, flag.key)
      }
    },
    async save(flag) {
      try {
        const saved = await updateFlag(db, { ...fromFlag(flag), id: flag.id, stored: flag.version - 1 })
        if (saved.numAffectedRows === 0n) throw new StaleWrite()
      } catch (error) {
        throw takenKey(error, flag.key)
      }
    },
    async find(projectId, flagId) {
      const { rows } = await findFlag(db, { projectId, flagId })
      return rows[0] && toFlag(rows[0])
    },
    async findLiveByKey(projectId, key) {
      const row = await flags()
        .where('flags.project_id', '=', projectId)
        .where('flags.key', '=', key)
        .where(isLive)
        .executeTakeFirst()
      return row && toFlag(row)
    },
    async listLiveByKey(organizationId, key) {
      const rows = await flags()
        .innerJoin('projects', 'projects.id', 'flags.project_id')
        .where('projects.organization_id', '=', organizationId)
        .where('flags.key', '=', key)
        .where(isLive)
        .orderBy('flags.project_id')
        .execute()
      return rows.map(toFlag)
    },
    async findLive(projectId, flagIds) {
      if (flagIds.length === 0) return []
      const rows = await flags()
        .where('flags.id', 'in', flagIds)
        .where(unindexed('flags.project_id'), '=', projectId)
        .where('flags.deleted', '=', 0)
        .execute()
      return rows.map(toFlag)
    },
    list(projectId, filter, window) {
      const order = filter.order ?? { field: 'created_at', descending: true }
      const direction = order.descending ? 'desc' : 'asc'
      const query = flags()
        .where(matching(projectId, filter))
        .orderBy(`flags.${order.field}`, direction)
        .orderBy('flags.id', direction)
      return readPage(query, window, toFlag, () => countRows(db.selectFrom('flags').where(matching(projectId, filter))))
    },
    async listLive(projectId) {
      const rows = await flags()
        .where('flags.project_id', '=', projectId)
        .where('flags.deleted', '=', 0)
        .orderBy('flags.key')
        .execute()
      return rows.map(toFlag)
    },
    async listWatched(afterId, limit) {
      const rows = await flags()
        // Literals, so that both databases see that the partial index fits.
        .where('flags.deleted', '=', sql.lit(0))
        .where('flags.active', '=', sql.lit(1))
        .where('flags.rollback_conditions', '<>', sql.lit('{}'))
        .where('flags.performed_rollback', '=', 0)
        .where('flags.id', '>', afterId)
        .orderBy('flags.id')
        .limit(limit)
        .execute()
      return rows.map(toFlag)
    },
    async listDependents(projectId) {
      const rows = await flags()
        .where('flags.project_id', '=', projectId)
        .where('flags.deleted', '=', 0)
        .where('flags.active', '=', 1)
        .where('flags.filters', 'like', '%"type":"flag"%')
        .execute()
      return rows.map(toFlag)
    },

    async checkRoom(projectId, { flags: added, filters }) {
      if (!limits) return
      if (added > 0) await checkCount(projectId, added, limits.flagsPerProjectMax)
      const bytes = Buffer.byteLength(JSON.stringify(filters))
      if (bytes <= smallFiltersBytesMax) return
      const used = await live(projectId)
        .select(sql<number>`sum(octet_length(filters))`.as('bytes'))
        .executeTakeFirstOrThrow()
      if (Number(used.bytes ?? 0) + bytes > limits.definitionBytesPerProjectMax)
        throw tooManyBytes(limits.definitionBytesPerProjectMax)
    },

    async appendVersion(version) {
      await insertVersion(db, fromVersion(version))
    },
    async findVersion(flagId, version) {
      const row = await versions(flagId).where('flag_versions.version', '=', version).executeTakeFirst()
      return row && toVersion(row)
    },
    listVersions: (flagId, window) =>
      readPage(versions(flagId).orderBy('flag_versions.version', 'desc'), window, toVersion),
  }
}

const matching = (projectId: number, filter: FlagFilter) => () => {
  const conditions = [sql<boolean>`flags.project_id = ${projectId}`, sql`flags.deleted = ${Number(filter.deleted)}`]
  if (filter.active !== undefined) conditions.push(sql`flags.active = ${Number(filter.active)}`)
  if (filter.staleSince !== undefined) {
    const isUnused = sql`exists (select 1 from flag_last_used where flag_last_used.project_id = flags.project_id
      and flag_last_used.kind = 'called' and flag_last_used.flag_key = flags.key
      and flag_last_used.at < ${filter.staleSince})`
    conditions.push(sql`flags.active = 1`, sql`flags.created_at < ${filter.staleSince}`)
    conditions.push(sql`(flags.is_fully_rolled_out = 1 or ${isUnused})`)
  }
  if (filter.isMultivariant !== undefined) {
    conditions.push(sql`flags.is_multivariant = ${Number(filter.isMultivariant)}`)
  }
  if (filter.createdById !== undefined) conditions.push(sql`flags.created_by_id = ${filter.createdById}`)
  if (filter.search) {
    const part = containing(filter.search)
    conditions.push(sql`(lower(flags.key) like ${part} escape '\\' or lower(flags.name) like ${part} escape '\\')`)
  }
  if (filter.tags) {
    // A tag stands in the stored JSON as its own JSON text, whatever its type.
    const any = filter.tags.map(tag => sql`lower(flags.tags) like ${containing(JSON.stringify(tag))} escape '\\'`)
    conditions.push(any.length > 0 ? sql`(${sql.join(any, sql` or `)})` : sql`1 = 0`)
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const containing = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, found => `\\${found}`)}%`

type FlagJoin = Selectable<FlagRow> & EmbeddedUser<'creator'> & OptionalUser<'editor'>

const toFlag = (row: FlagJoin): Flag => ({
  id: row.id,
  projectId: row.project_id,
  key: row.key,
  name: row.name,
  filters: JSON.parse(row.filters),
  deleted: row.deleted === 1,
  active: row.active === 1,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  ensureExperienceContinuity: row.ensure_experience_continuity === 1,
  rollbackConditions: JSON.parse(row.rollback_conditions),
  performedRollback: row.performed_rollback === 1,
  tags: JSON.parse(row.tags),
  usageDashboardId: row.usage_dashboard_id,
  analyticsDashboards: JSON.parse(row.analytics_dashboards),
  hasEnrichedAnalytics: row.has_enriched_analytics === 1,
  bucketingIdentifier: row.bucketing_identifier as Flag['bucketingIdentifier'],
  evaluationRuntime: row.evaluation_runtime as Flag['evaluationRuntime'],
  evaluationContexts: JSON.parse(row.evaluation_contexts),
  version: row.version,
  updatedAt: row.updated_at,
  lastModifiedBy: readOptionalUser(row, 'editor'),
  activeSince: row.active_since,
})

const toVersion = (row: FlagVersionRow & OptionalUser<'editor'>): FlagVersion => ({
  flagId: row.flag_id,
  version: row.version,
  content: JSON.parse(row.snapshot),
  user: readOptionalUser(row, 'editor'),
  createdAt: row.created_at,
})

type NewFlagRow = Omit<FlagRow, 'id'>

const fromFlag = (flag: Omit<Flag, 'id'>): NewFlagRow => ({
  project_id: flag.projectId,
  key: flag.key,
  name: flag.name,
  filters: JSON.stringify(flag.filters),
  is_multivariant: Number(isMultivariant(flag.filters)),
  deleted: Number(flag.deleted),
  active: Number(flag.active),
  created_by_id: flag.createdBy.id,
  created_at: flag.createdAt,
  ensure_experience_continuity: Number(flag.ensureExperienceContinuity),
  rollback_conditions: JSON.stringify(flag.rollbackConditions),
  performed_rollback: Number(flag.performedRollback),
  tags: JSON.stringify(flag.tags),
  usage_dashboard_id: flag.usageDashboardId,
  analytics_dashboards: JSON.stringify(flag.analyticsDashboards),
  has_enriched_analytics: Number(flag.hasEnrichedAnalytics),
  bucketing_identifier: flag.bucketingIdentifier,
  evaluation_runtime: flag.evaluationRuntime,
  evaluation_contexts: JSON.stringify(flag.evaluationContexts),
  version: flag.version,
  updated_at: flag.updatedAt,
  last_modified_by_id: flag.lastModifiedBy?.id ?? null,
  active_since: flag.activeSince,
  is_fully_rolled_out: Number(isFullyRolledOut(flag.filters)),
})

const fromVersion = (version: FlagVersion): FlagVersionRow => ({
  flag_id: version.flagId,
  version: version.version,
  snapshot: JSON.stringify(version.content),
  user_id: version.user?.id ?? null,
  created_at: version.createdAt,
})

const tooManyFlags = (max: number) =>
  invalid(
    null,
    'limit_reached',
    `A project may have at most ${max} flags (HALYARD_FLAGS_PER_PROJECT_MAX). Delete some that are no longer used.`,
  )

const tooManyBytes = (max: number) =>
  invalid(
    'filters',
    'limit_reached',
    `The conditions and payloads of a project may have at most ${max} bytes together (HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX).`,
  )

const takenKey = (error: unknown, key: string): unknown =>
  alreadyTaken(error, 'key', `There is already a flag with the key "${key}" in this project.`)
