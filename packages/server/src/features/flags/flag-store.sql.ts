import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Authorization } from '../../domain/authorization.ts'
import type { Flag, FlagFacets, FlagFilter, FlagLimits, FlagVersion, FreeObject } from '../../domain/flag.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { invalid } from '../../problem.ts'
import { insertRows, insertRowsWithIds, updateRows } from '../../storage/bulk-rows.ts'
import { alreadyTaken } from '../../storage/driver-error.ts'
import { pipelinedWrite, preparedInsert, preparedListQuery, preparedQuery } from '../../storage/prepared-query.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import { requireSaved, StaleWrite } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains, containsInOrder } from '../../storage/text-search.ts'
import type { EditableFlags } from '../access/access.ts'
import { embeddedUser, findUsers } from '../identity/embedded-user.sql.ts'
import { flagOf, fromFlag, fromVersion, type NewFlagRow, toFlag, toVersion } from './flag-rows.sql.ts'

/** Filters up to this are bounded by the number of flags; only larger ones are added up. */
const smallFiltersBytesMax = 4096

const flagsIn = (db: Kysely<Tables>) =>
  db
    .selectFrom('flags')
    .innerJoin('users as creator', 'creator.id', 'flags.created_by_id')
    .leftJoin('users as editor', 'editor.id', 'flags.last_modified_by_id')
    .selectAll('flags')
    .select([...embeddedUser('creator'), ...embeddedUser('editor')])

const insertFlag = preparedInsert((db, row: NewFlagRow) => db.insertInto('flags').values(row))

const updateFlag = preparedQuery((db, { id, stored, ...row }: NewFlagRow & { id: number; stored: number }) =>
  db.updateTable('flags').set(row).where('id', '=', id).where('version', '=', stored),
)

const findFlag = preparedQuery((db, { projectId, flagId }: { projectId: number; flagId: number }) =>
  flagsIn(db).where('flags.project_id', '=', projectId).where('flags.id', '=', flagId),
)

const insertVersion = pipelinedWrite((db, row: Tables['flag_versions']) => db.insertInto('flag_versions').values(row))

const findFlags = preparedListQuery((db, ids) => flagsIn(db).where('flags.id', 'in', ids))

/** Never evaluated sorts before everything else. */
const lastCalled = sql<string>`coalesce((select flag_last_used.at from flag_last_used
  where flag_last_used.project_id = flags.project_id and flag_last_used.kind = 'called'
  and flag_last_used.flag_key = flags.key), '')`

const peopleOf = (row: { created_by_id: number; last_modified_by_id: number | null }): number[] =>
  row.last_modified_by_id === null ? [row.created_by_id] : [row.created_by_id, row.last_modified_by_id]

/** A literal, so that both databases see that the partial index of live keys fits. */
const isLive = sql<boolean>`flags.deleted = 0`

interface Authorized<F> {
  readonly flag: F
  readonly authorization: Authorization
}

export const sqlFlagStore = (db: Kysely<Tables>, limits: FlagLimits | undefined) => ({
  ...flagWrites(db),
  ...flagReads(db),
  ...flagLists(db),
  ...flagSearches(db),
  ...flagLimitChecks(db, limits),
  ...flagVersions(db),
})

const liveFlags = (db: Kysely<Tables>, projectId: number) =>
  db.selectFrom('flags').where('project_id', '=', projectId).where('deleted', '=', sql.lit(0))

function flagWrites(db: Kysely<Tables>) {
  async function save(flag: Flag): Promise<void> {
    try {
      const saved = await updateFlag(db, { ...fromFlag(flag), id: flag.id, stored: flag.version - 1 })
      requireSaved(saved.numAffectedRows)
    } catch (error) {
      throw takenKey(error, flag.key)
    }
  }

  return {
    /** Raises `invalid` (`unique`, `key`) when a live flag of the project has the key. */
    async create(flag: Omit<Flag, 'id'>, _authorization: Authorization): Promise<Flag> {
      try {
        return { ...flag, id: await insertFlag(db, fromFlag(flag)) }
      } catch (error) {
        throw takenKey(error, flag.key)
      }
    },
    /**
     * Saves the flag whose version is one above the stored one. Raises StaleWrite when it is not (another transaction saved first),
     * and `invalid` (`unique`, `key`) when another live flag has the key.
     */
    save: (flag: Flag, _authorization: Authorization): Promise<void> => save(flag),
    /** As `save`, for a flag of which only the dashboards have changed: no person gets another value. */
    async saveDashboards(flag: Flag): Promise<void> {
      await save(flag)
    },
    /** As `create` and `save`, with a statement for many flags. */
    async createAll(flags: readonly Authorized<Omit<Flag, 'id'>>[]): Promise<readonly Flag[]> {
      try {
        const rows = flags.map(({ flag }) => fromFlag(flag))
        const ids = await insertRowsWithIds(db, 'flags', rows)
        return flags.map(({ flag }, index) => ({ ...flag, id: ids[index]! }))
      } catch (error) {
        throw takenKey(error)
      }
    },
    async saveAll(flags: readonly Authorized<Flag>[]): Promise<void> {
      try {
        const rows = flags.map(({ flag }) => ({ ...fromFlag(flag), id: flag.id }))
        const saved = await updateRows(db, 'flags', rows, { isVersioned: true })
        if (saved !== flags.length) throw new StaleWrite()
      } catch (error) {
        throw takenKey(error)
      }
    },
  }
}

/** By id and by key. */
function flagReads(db: Kysely<Tables>) {
  const findAll = async (projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]> =>
    (await findFlags(db, flagIds)).filter(row => row.project_id === projectId).map(toFlag)

  return {
    async find(projectId: number, flagId: number): Promise<Flag | undefined> {
      const { rows } = await findFlag(db, { projectId, flagId })
      return rows[0] && toFlag(rows[0])
    },
    async findLiveByKey(projectId: number, key: string): Promise<Flag | undefined> {
      const row = await flagsIn(db)
        .where('flags.project_id', '=', projectId)
        .where('flags.key', '=', key)
        .where(isLive)
        .executeTakeFirst()
      return row && toFlag(row)
    },
    /** Live flags with this key in all projects of an organization, by project. */
    async listLiveByKey(organizationId: string, key: string): Promise<readonly Flag[]> {
      const rows = await flagsIn(db)
        .innerJoin('projects', 'projects.id', 'flags.project_id')
        .where('projects.organization_id', '=', organizationId)
        .where('flags.key', '=', key)
        .where(isLive)
        .orderBy('flags.project_id')
        .execute()
      return rows.map(toFlag)
    },
    /** Live flags by id; what does not exist is left out. */
    async findLive(projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]> {
      return (await findAll(projectId, flagIds)).filter(flag => !flag.deleted)
    },
    /** Flags by id, deleted ones too; what does not exist is left out. */
    findAll,
    /** Every live flag of the project, by key. */
    async listLive(projectId: number): Promise<readonly Flag[]> {
      const rows = await db
        .selectFrom('flags')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('deleted', '=', 0)
        .orderBy('key')
        .execute()
      const users = await findUsers(db, new Set(rows.flatMap(peopleOf)))
      return rows.map(row => {
        const editor = row.last_modified_by_id === null ? undefined : users.get(row.last_modified_by_id)
        return flagOf(row, users.get(row.created_by_id)!, editor ?? null)
      })
    },
  }
}

/** For the list of flags. */
function flagLists(db: Kysely<Tables>) {
  return {
    async list(projectId: number, filter: FlagFilter, window: Window): Promise<PageOf<Flag>> {
      const order = filter.order ?? { field: 'created_at', descending: true }
      const direction = order.descending ? 'desc' : 'asc'
      // Ids first: sorting thousands of definitions to return a hundred would be slow.
      const ids = db
        .selectFrom('flags')
        .select('flags.id')
        .where(matching(projectId, filter))
        .orderBy(order.field === 'last_called_at' ? lastCalled : sql.ref(`flags.${order.field}`), direction)
        .orderBy('flags.id', direction)
      const page = await readPage(ids, window, ({ id }) => id)
      const rowsById = new Map((await findFlags(db, page.items)).map(row => [row.id, row]))
      return { count: page.count, items: page.items.map(id => toFlag(rowsById.get(id)!)) }
    },
    /** Tags and creators of the flags that are neither deleted nor archived. */
    async facets(projectId: number, editable: EditableFlags): Promise<FlagFacets> {
      const counted = () => liveFlags(db, projectId).where('archived', '=', 0)
      const countTags = async (among: ReturnType<typeof counted>) =>
        tagCounts(
          await among
            .select(({ fn }) => ['tags', fn.countAll<number>().as('count')])
            .groupBy('tags')
            .execute(),
        )
      const editableBy = ({ createdById, roleIds }: Exclude<EditableFlags, string>) =>
        counted().where(({ eb, or, selectFrom }) =>
          or([
            eb('created_by_id', '=', createdById),
            ...(roleIds.length === 0
              ? []
              : [eb('id', 'in', selectFrom('flag_role_access').select('flag_id').where('role_id', 'in', roleIds))]),
          ]),
        )
      const all = await countTags(counted())
      const own = editable === 'all' ? all : editable === 'none' ? new Map() : await countTags(editableBy(editable))
      const tags = new Map([...all].map(([tag, flags]) => [tag, { flags, editable: own.get(tag) ?? 0 }]))
      const creators = await counted().select('created_by_id').distinct().execute()
      const users = await findUsers(db, new Set(creators.map(row => row.created_by_id)))
      return { tags, creators: [...users.values()] }
    },
  }
}

/** By what their definitions contain. */
function flagSearches(db: Kysely<Tables>) {
  return {
    /** Live, active flags of all projects with rollback conditions and no rollback yet, by id, after an id. */
    async listWatched(afterId: number, limit: number): Promise<readonly Flag[]> {
      const rows = await flagsIn(db)
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
    /** Live, active flags with a condition on another flag. */
    async listDependents(projectId: number): Promise<readonly Flag[]> {
      const rows = await flagsIn(db)
        .where('flags.project_id', '=', projectId)
        .where('flags.deleted', '=', 0)
        .where('flags.active', '=', 1)
        .where('flags.filters', 'like', '%"type":"flag"%')
        .execute()
      return rows.map(toFlag)
    },
    /** Flags, deleted ones too, that name the dashboard among their analytics dashboards. */
    async listByAnalyticsDashboard(projectId: number, dashboardId: number): Promise<readonly Flag[]> {
      const rows = await flagsIn(db)
        .where('flags.project_id', '=', projectId)
        // A coarse filter: 12 also finds 112.
        .where('flags.analytics_dashboards', 'like', `%${dashboardId}%`)
        .orderBy('flags.id')
        .execute()
      return rows.map(toFlag).filter(flag => flag.analyticsDashboards.includes(dashboardId))
    },
  }
}

function flagLimitChecks(db: Kysely<Tables>, limits: FlagLimits | undefined) {
  return {
    /** Raises `invalid` when the project's limits do not allow so many further live flags, or these filters. */
    async checkLimits(
      projectId: number,
      { flags: added, filters }: { readonly flags: number; readonly filters: readonly FreeObject[] },
    ): Promise<void> {
      if (!limits) return
      const { flagsPerProjectMax } = limits
      if (added > 0 && (await countRows(liveFlags(db, projectId))) + added > flagsPerProjectMax)
        throw tooManyFlags(flagsPerProjectMax)
      const bytes = filters
        .map(item => Buffer.byteLength(JSON.stringify(item)))
        .filter(size => size > smallFiltersBytesMax)
        .reduce((total, size) => total + size, 0)
      if (bytes === 0) return
      const used = await liveFlags(db, projectId)
        .select(sql<number>`sum(octet_length(filters))`.as('bytes'))
        .executeTakeFirstOrThrow()
      if (Number(used.bytes ?? 0) + bytes > limits.definitionBytesPerProjectMax)
        throw tooManyBytes(limits.definitionBytesPerProjectMax)
    },
  }
}

function flagVersions(db: Kysely<Tables>) {
  const versions = (flagId: number) =>
    db
      .selectFrom('flag_versions')
      .leftJoin('users as editor', 'editor.id', 'flag_versions.user_id')
      .selectAll('flag_versions')
      .select(embeddedUser('editor'))
      .where('flag_versions.flag_id', '=', flagId)

  return {
    async appendVersion(version: FlagVersion): Promise<void> {
      await insertVersion(db, fromVersion(version))
    },
    async appendVersions(added: readonly FlagVersion[]): Promise<void> {
      await insertRows(db, 'flag_versions', added.map(fromVersion))
    },
    async findVersion(flagId: number, version: number): Promise<FlagVersion | undefined> {
      const row = await versions(flagId).where('flag_versions.version', '=', version).executeTakeFirst()
      return row && toVersion(row)
    },
    /** Newest first. */
    listVersions: (flagId: number, window: Window): Promise<PageOf<FlagVersion>> =>
      readPage(versions(flagId).orderBy('flag_versions.version', 'desc'), window, toVersion),
  }
}

const matching = (projectId: number, filter: FlagFilter) => () => {
  const conditions = [sql<boolean>`flags.project_id = ${projectId}`, sql`flags.deleted = ${Number(filter.deleted)}`]
  if (!filter.deleted) conditions.push(sql`flags.archived = ${Number(filter.archived)}`)
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
  if (filter.favoriteOf !== undefined) {
    conditions.push(sql`flags.id in (select flag_id from favorite_flags
      where favorite_flags.project_id = ${projectId} and favorite_flags.user_id = ${filter.favoriteOf})`)
  }
  if (filter.search) {
    conditions.push(sql`(${contains('flags.key', filter.search)} or ${contains('flags.name', filter.search)})`)
  }
  for (const word of filter.words ?? []) {
    const places = ['flags.key', 'flags.name', 'flags.tags'].map(column => contains(column, word))
    conditions.push(sql`(${sql.join(places, sql` or `)})`)
  }
  if (filter.letters) {
    conditions.push(anyOf(['flags.key', 'flags.name'].map(column => containsInOrder(column, filter.letters ?? []))))
  }
  // A tag stands in the stored JSON as its own JSON text, whatever its type.
  if (filter.tags) conditions.push(anyOf(filter.tags.map(tag => contains('flags.tags', JSON.stringify(tag)))))
  if (filter.exactTags) {
    // `replace` compares case on both databases.
    const isTagged = (tag: unknown) => sql<boolean>`replace(flags.tags, ${JSON.stringify(tag)}, '') <> flags.tags`
    conditions.push(anyOf(filter.exactTags.map(isTagged)))
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const anyOf = (conditions: readonly RawBuilder<boolean>[]) =>
  conditions.length > 0 ? sql<boolean>`(${sql.join(conditions, sql` or `)})` : sql<boolean>`1 = 0`

const tooManyFlags = (max: number) =>
  invalid(
    null,
    'limit_reached',
    `A project can have at most ${max} flags (HALYARD_FLAGS_PER_PROJECT_MAX). Delete unused ones.`,
  )

const tooManyBytes = (max: number) =>
  invalid(
    'filters',
    'limit_reached',
    `The conditions and payloads of a project can have at most ${max} bytes together (HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX).`,
  )

const takenKey = (error: unknown, key?: string): unknown =>
  alreadyTaken(
    error,
    'key',
    key === undefined
      ? 'There is already a flag with one of these keys in this project.'
      : `There is already a flag with the key "${key}" in this project.`,
  )

/** Lists of tags with their numbers of flags, as the number of flags by tag. */
function tagCounts(lists: readonly { readonly tags: string; readonly count: number }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { tags, count } of lists) {
    for (const tag of new Set(JSON.parse(tags) as unknown[])) {
      if (typeof tag === 'string') counts.set(tag, (counts.get(tag) ?? 0) + Number(count))
    }
  }
  return counts
}
