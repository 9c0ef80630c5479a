import type { Kysely } from 'kysely'
import { alreadyTaken } from '../../../storage/driver-error.ts'
import { saveVersioned } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'
import type { EnvironmentSet } from './environment.ts'

export function sqlEnvironmentStore(db: Kysely<Tables>) {
  async function setEnvironments(setId: number, { environments }: Pick<EnvironmentSet, 'environments'>): Promise<void> {
    await db.deleteFrom('environments').where('set_id', '=', setId).execute()
    if (environments.length === 0) return
    const rows = environments.map(({ projectId, name, isProduction }, position) => ({
      project_id: projectId,
      set_id: setId,
      name,
      position,
      is_production: Number(isProduction),
    }))
    try {
      await db.insertInto('environments').values(rows).execute()
    } catch (error) {
      throw alreadyTaken(error, 'environments', 'One of the projects is in an environment set already.')
    }
  }

  async function read(organizationId: string, setId?: number): Promise<readonly EnvironmentSet[]> {
    let query = db
      .selectFrom('environment_sets')
      .innerJoin('users as creator', 'creator.id', 'environment_sets.created_by_id')
      .selectAll('environment_sets')
      .select(embeddedUser('creator'))
      .where('environment_sets.organization_id', '=', organizationId)
    if (setId !== undefined) query = query.where('environment_sets.id', '=', setId)
    const sets = await query.orderBy('environment_sets.name').orderBy('environment_sets.id').execute()
    if (sets.length === 0) return []
    const ids = sets.map(({ id }) => id)
    const rows = await db
      .selectFrom('environments')
      .selectAll()
      .where('set_id', 'in', ids)
      .orderBy('position')
      .execute()
    return sets.map(set => ({
      id: set.id,
      organizationId: set.organization_id,
      name: set.name,
      environments: rows
        .filter(row => row.set_id === set.id)
        .map(row => ({ projectId: row.project_id, name: row.name, isProduction: row.is_production === 1 })),
      createdBy: readUser(set, 'creator'),
      createdAt: set.created_at,
      updatedAt: set.updated_at,
      version: set.version,
    }))
  }

  const rowOf = (set: Omit<EnvironmentSet, 'id'>) => ({
    organization_id: set.organizationId,
    name: set.name,
    created_by_id: set.createdBy.id,
    created_at: set.createdAt,
    updated_at: set.updatedAt,
    version: set.version,
  })

  return {
    /** Raises `invalid` (`environments`) when a project is in a set already. */
    async create(set: Omit<EnvironmentSet, 'id'>): Promise<EnvironmentSet> {
      const { id } = await db
        .insertInto('environment_sets')
        .values(rowOf(set))
        .returning('id')
        .executeTakeFirstOrThrow()
      await setEnvironments(id, set)
      return { ...set, id }
    },
    /** Throws `StaleWrite` unless the version is exactly one above the stored one. Raises `invalid` as `create`. */
    async save(set: EnvironmentSet): Promise<void> {
      await saveVersioned(db, 'environment_sets', set.id, rowOf(set))
      await setEnvironments(set.id, set)
    },
    async remove(setId: number): Promise<void> {
      await db.deleteFrom('environment_sets').where('id', '=', setId).execute()
    },
    find: async (organizationId: string, setId: number): Promise<EnvironmentSet | undefined> =>
      (await read(organizationId, setId))[0],
    /** By name; an organization has few. */
    list: (organizationId: string): Promise<readonly EnvironmentSet[]> => read(organizationId),
    /** The set of a project; null when it is in none. */
    async setOf(projectId: number): Promise<number | null> {
      const row = await db
        .selectFrom('environments')
        .select('set_id')
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      return row?.set_id ?? null
    },
  }
}
