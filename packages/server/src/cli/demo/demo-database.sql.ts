import { existsSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { instantOf } from '../../instant.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'

/**
 * Backdates the history that the demo has just created. No API does that, because history is immutable. So it happens only on the database that
 * holds this project, identified by its token; anywhere else nothing is changed.
 */
export async function dateHistory(token: string, times: readonly Date[]): Promise<void> {
  await besideTheDatabase(storage => writeTimes(storage, token, times))
}

/** Whether the configured database is the one behind the server: it holds the project with this token. */
export async function holdsProject(token: string): Promise<boolean> {
  const project = await besideTheDatabase(({ kysely }) =>
    kysely.selectFrom('projects').select('id').where('api_token', '=', token).executeTakeFirst(),
  )
  return project !== undefined
}

/** Removes those accounts that are in this database and in no organization. Returns their UUIDs. */
export async function removeAccounts(uuids: readonly string[]): Promise<readonly string[]> {
  if (uuids.length === 0) return []
  return (await besideTheDatabase(storage => writeAbsence(storage, uuids))) ?? []
}

/** Undefined without a local database, or when it is busy: the demo works without. */
async function besideTheDatabase<T>(work: (storage: Storage) => Promise<T>): Promise<T | undefined> {
  const { databaseUrl } = readConfig(process.env)
  const isFile = databaseUrl.startsWith('sqlite:')
  if (isFile && !existsSync(databaseUrl.slice('sqlite:'.length))) return undefined
  const storage = openStorage(databaseUrl)
  try {
    return await work(storage)
  } catch {
    return undefined
  } finally {
    await storage.close()
  }
}

const writeTimes = (storage: Storage, token: string, times: readonly Date[]): Promise<void> =>
  storage.kysely.transaction().execute(async tx => {
    const project = await tx.selectFrom('projects').select('id').where('api_token', '=', token).executeTakeFirst()
    if (!project) return
    const entries = await tx
      .selectFrom('activity')
      .select(['id', 'item_id'])
      .where('project_id', '=', project.id)
      .where('scope', '=', 'FeatureFlag')
      .orderBy('id')
      .limit(times.length)
      .execute()
    const versions = new Map<string, number>()
    for (const [index, { id, item_id }] of entries.entries()) {
      const created_at = instantOf(times[index] as Date)
      const version = (versions.get(item_id) ?? 0) + 1
      versions.set(item_id, version)
      await tx.updateTable('activity').set({ created_at }).where('id', '=', id).execute()
      await tx
        .updateTable('flag_versions')
        .set({ created_at })
        .where('flag_id', '=', Number(item_id))
        .where('version', '=', version)
        .execute()
    }
  })

const writeAbsence = (storage: Storage, uuids: readonly string[]): Promise<readonly string[]> =>
  storage.kysely.transaction().execute(async tx => {
    const accounts = await tx
      .selectFrom('users')
      .select(['id', 'uuid'])
      .where('uuid', 'in', uuids)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('memberships').select('id').whereRef('memberships.user_id', '=', 'users.id'))),
      )
      .execute()
    for (const { id } of accounts) {
      await tx.deleteFrom('api_keys').where('user_id', '=', id).execute()
      await tx.deleteFrom('users').where('id', '=', id).execute()
    }
    return accounts.map(({ uuid }) => uuid)
  })
