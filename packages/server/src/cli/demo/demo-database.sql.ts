import { existsSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { instantOf } from '../../instant.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'

/**
 * What the demo did a moment ago gets the times at which its team is said to have done it. No API does that: history is not
 * rewritten. So it happens only on the database of this very project, known by its token; anywhere else nothing is touched,
 * and everything happened just now.
 */
export async function dateHistory(token: string, times: readonly Date[]): Promise<void> {
  await besideTheDatabase(storage => writeTimes(storage, token, times))
}

/** Removes those of these accounts that are in this database and in no organization, and answers which. */
export async function removeAccounts(uuids: readonly string[]): Promise<readonly string[]> {
  if (uuids.length === 0) return []
  return (await besideTheDatabase(storage => writeAbsence(storage, uuids))) ?? []
}

/** Undefined from afar, and where it is another database or a busy one: the demo can do without. */
async function besideTheDatabase<T>(work: (storage: Storage) => Promise<T>): Promise<T | undefined> {
  const { databaseUrl } = readConfig(process.env)
  const isFile = databaseUrl.startsWith('sqlite:')
  if (isFile && !existsSync(databaseUrl.slice('sqlite:'.length))) return undefined
  if (!isFile && process.env.DATABASE_URL === undefined) return undefined
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
