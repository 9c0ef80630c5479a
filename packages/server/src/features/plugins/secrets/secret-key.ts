import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type InstanceStore, secretKeyName } from '../../../storage/instance-store.sql.ts'
import { generateSecretKey } from '../../../storage/secret-box.ts'

const keyFileName = 'halyard.key'

/**
 * The key that secrets are encrypted with: the configured one, or one that is made at the first start. With SQLite it
 * lies in a file beside the database, so that a copy of the database alone does not hold both. With PostgreSQL it is
 * kept in the database, because all nodes have to have the same: there, only a configured key protects a copy.
 */
export async function findSecretKey(
  configured: string | undefined,
  sqlitePath: string | undefined,
  instance: InstanceStore,
): Promise<string> {
  if (configured !== undefined) return configured
  if (sqlitePath === undefined || sqlitePath === ':memory:')
    return instance.findOrCreate(secretKeyName, generateSecretKey())
  return findInFile(secretKeyFile(sqlitePath))
}

/** Like `findSecretKey`, for what must not write: undefined when none has been made. */
export async function readSecretKey(
  configured: string | undefined,
  sqlitePath: string | undefined,
  instance: InstanceStore,
): Promise<string | undefined> {
  if (configured !== undefined) return configured
  if (sqlitePath === undefined) return instance.find(secretKeyName)
  const path = secretKeyFile(sqlitePath)
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
}

export const secretKeyFile = (sqlitePath: string): string => join(dirname(sqlitePath), keyFileName)

function findInFile(path: string): string {
  if (!existsSync(path)) {
    try {
      writeFileSync(path, `${generateSecretKey()}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return readFileSync(path, 'utf8').trim()
}
