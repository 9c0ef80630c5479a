import type { Kysely, Selectable } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { isSqlite, preparedQuery } from '../../storage/prepared-query.ts'
import { readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Project } from '../../tenancy.ts'
import type { ProjectPatch, SecretKey } from './project.ts'

const lockProject = preparedQuery((db, { projectId }: { projectId: number }) =>
  db.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate(),
)

export function sqlProjectStore(db: Kysely<Tables>) {
  const heldProjectIds = new Set<number>()

  async function withGroupTypes(rows: readonly Selectable<Tables['projects']>[]): Promise<readonly Project[]> {
    if (rows.length === 0) return []
    const groupTypes = await db
      .selectFrom('group_types')
      .selectAll()
      .where(
        'project_id',
        'in',
        rows.map(row => row.id),
      )
      .orderBy('type_index')
      .execute()
    return rows.map(row =>
      toProject(
        row,
        Object.fromEntries(
          groupTypes.filter(type => type.project_id === row.id).map(type => [String(type.type_index), type.name]),
        ),
      ),
    )
  }
  const one = async (row: Selectable<Tables['projects']> | undefined) =>
    row ? (await withGroupTypes([row]))[0] : undefined

  return {
    async create(project: Omit<Project, 'id' | 'groupTypes'>): Promise<Project> {
      const { id } = await db
        .insertInto('projects')
        .values(fromProject(project))
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...project, id, groupTypes: {} }
    },
    update: (projectId: number, patch: ProjectPatch): Promise<void> =>
      updateSent(db, 'projects', projectId, {
        name: patch.name,
        api_token: patch.apiToken,
        previous_api_token: patch.previousToken === null ? null : patch.previousToken?.token,
        previous_token_expires_at: patch.previousToken === null ? null : patch.previousToken?.expiresAt,
        timezone: patch.timezone,
        property_matching_version: patch.propertyMatchingVersion,
        updated_at: patch.updatedAt,
      }),
    /** With everything in it; what a persons database of its own has is removed in the background. */
    async remove(projectId: number): Promise<void> {
      const counted = db.selectFrom('counted_events').select('id').where('project_id', '=', projectId)
      const eventIds = (await counted.execute()).map(({ id }) => id)
      await db.deleteFrom('projects').where('id', '=', projectId).execute()
      // Afterwards, since who counts holds the project or its persons. Nothing refers to these rows.
      if (eventIds.length > 0) await db.deleteFrom('person_event_days').where('event_id', 'in', eventIds).execute()
    },
    find: async (projectId: number): Promise<Project | undefined> =>
      one(await db.selectFrom('projects').selectAll().where('id', '=', projectId).executeTakeFirst()),
    /** The subset of these ids whose projects exist. */
    async listExisting(projectIds: readonly number[]): Promise<ReadonlySet<number>> {
      if (projectIds.length === 0) return new Set()
      const rows = await db.selectFrom('projects').select('id').where('id', 'in', projectIds).execute()
      return new Set(rows.map(({ id }) => id))
    },
    /** The oldest project there is. */
    findFirst: async (): Promise<Project | undefined> =>
      one(await db.selectFrom('projects').selectAll().orderBy('id').limit(1).executeTakeFirst()),
    findByUuid: async (uuid: string): Promise<Project | undefined> =>
      one(await db.selectFrom('projects').selectAll().where('uuid', '=', uuid).executeTakeFirst()),
    /** By the current or the previous token; the caller checks whether the previous one is still accepted. */
    findByToken: async (apiToken: string): Promise<Project | undefined> =>
      one(
        await db
          .selectFrom('projects')
          .selectAll()
          .where(({ or, eb }) => or([eb('api_token', '=', apiToken), eb('previous_api_token', '=', apiToken)]))
          .executeTakeFirst(),
      ),
    findBySecretKey: async (hash: string): Promise<Project | undefined> =>
      one(
        await db
          .selectFrom('projects')
          .innerJoin('secret_keys', 'secret_keys.project_id', 'projects.id')
          .selectAll('projects')
          .where('secret_keys.hash', '=', hash)
          .executeTakeFirst(),
      ),
    /**
     * Until the transaction ends, no other one adds or removes what flags and cohorts of the project refer to. To be called before a flag or
     * cohort of the project is written, so that all writers take their locks in one order.
     */
    async holdReferences(projectId: number): Promise<void> {
      // SQLite has one writer; on PostgreSQL the row is locked once for each transaction.
      if (isSqlite(db) || heldProjectIds.has(projectId)) return
      heldProjectIds.add(projectId)
      await lockProject(db, { projectId })
    },
    /** Projects of these organizations, by id; with `projectIds`, only those. */
    async list(
      {
        organizationIds,
        projectIds,
      }: { readonly organizationIds: readonly string[]; readonly projectIds?: readonly number[] },
      window: Window,
    ): Promise<PageOf<Project>> {
      if (organizationIds.length === 0) return { count: 0, items: [] }
      let query = db.selectFrom('projects').selectAll().where('organization_id', 'in', organizationIds).orderBy('id')
      if (projectIds) query = query.where('id', 'in', projectIds.length > 0 ? projectIds : [-1])
      const { count, items } = await readPage(query, window, row => row)
      return { count, items: await withGroupTypes(items) }
    },
    /** The projects that have live flags, those first whose flags were changed last. */
    async listLastChanged(limit: number): Promise<readonly Pick<Project, 'id' | 'apiToken'>[]> {
      const rows = await db
        .selectFrom('flags')
        .innerJoin('projects', 'projects.id', 'flags.project_id')
        .select(({ fn }) => ['projects.id', 'projects.api_token', fn.max('flags.updated_at').as('changed_at')])
        .where('flags.deleted', '=', 0)
        .groupBy(['projects.id', 'projects.api_token'])
        .orderBy('changed_at', 'desc')
        .limit(limit)
        .execute()
      return rows.map(row => ({ id: row.id, apiToken: row.api_token }))
    },

    async createSecretKey(key: SecretKey): Promise<void> {
      await db.insertInto('secret_keys').values(fromSecretKey(key)).execute()
    },
    /** Newest first. */
    listSecretKeys(projectId: number, window: Window): Promise<PageOf<SecretKey>> {
      const query = db
        .selectFrom('secret_keys')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
      return readPage(query, window, toSecretKey)
    },
    /** False when there was none. */
    async removeSecretKey(projectId: number, keyId: string): Promise<boolean> {
      const result = await db
        .deleteFrom('secret_keys')
        .where('project_id', '=', projectId)
        .where('id', '=', keyId)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
  }
}

const toProject = (row: Selectable<Tables['projects']>, groupTypes: Record<string, string>): Project => ({
  id: row.id,
  uuid: row.uuid,
  organizationId: row.organization_id,
  name: row.name,
  apiToken: row.api_token,
  ...(row.previous_api_token !== null &&
    row.previous_token_expires_at !== null && {
      previousToken: { token: row.previous_api_token, expiresAt: row.previous_token_expires_at },
    }),
  timezone: row.timezone,
  propertyMatchingVersion: row.property_matching_version === 1 ? 1 : 2,
  groupTypes,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const fromProject = (project: Omit<Project, 'id' | 'groupTypes'>) => ({
  uuid: project.uuid,
  organization_id: project.organizationId,
  name: project.name,
  api_token: project.apiToken,
  previous_api_token: null,
  previous_token_expires_at: null,
  timezone: project.timezone,
  property_matching_version: project.propertyMatchingVersion,
  created_at: project.createdAt,
  updated_at: project.updatedAt,
})

const toSecretKey = (row: Tables['secret_keys']): SecretKey => ({
  id: row.id,
  projectId: row.project_id,
  label: row.label,
  hash: row.hash,
  mask: row.mask,
  createdAt: row.created_at,
})

const fromSecretKey = (key: SecretKey): Tables['secret_keys'] => ({
  id: key.id,
  project_id: key.projectId,
  label: key.label,
  hash: key.hash,
  mask: key.mask,
  created_at: key.createdAt,
})
