import { createReadStream, existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { beginSegment } from '../../features/audit/begin-segment.ts'
import { commandLine, recordAudit } from '../../features/audit/record-audit.ts'
import { hashSecret, maskSecret, newId, newSecret, newUuid } from '../../features/identity/secret.ts'
import { moveSecrets } from '../../features/plugins/configs/config-secrets.ts'
import { tokenPurpose } from '../../features/plugins/install/plugin-builder.ts'
import { findSecretKey } from '../../features/plugins/secrets/secret-key.ts'
import { announceProject } from '../../features/projects/create-project.ts'
import { type Instant, instantOf } from '../../instant.ts'
import { sqlInstanceStore } from '../../storage/instance-store.sql.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { notifyChanges } from '../../storage/postgres/postgres-notify.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import { finishWith } from '../../storage/sql-database.ts'
import type { BroughtProject, Credentials } from '../../storage/transfer/bring-project.ts'
import { importData } from '../../storage/transfer/import-data.ts'
import { type Stores, sqlStores } from '../../stores.ts'
import { printJson, progress } from '../output.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { refuseSeparatePersons } from './transfer.ts'

interface Options {
  readonly organization?: string
  readonly name?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `halyard import <file>`: a full export into an empty database, or an exported project, as a new one, into a database in use. */
export async function importCommand(file: string, options: Options): Promise<void> {
  if (!existsSync(file)) throw new CommandError(`There is no file ${file}.`)
  const isDryRun = options.dryRun === true
  const now = instantOf(new Date())
  const run = (storage: Storage, config: Config) =>
    importData(storage, () => linesOf(file), {
      organization: options.organization,
      name: options.name,
      isDryRun,
      onProgress: progress,
      findCredentials: () => findCredentials(storage, config),
      finish: (tx, project) =>
        finishWith(tx, sqlStores, stores => (project ? recordImport(stores, project, now) : takeOver(stores, now))),
    })
  await withDatabase(
    async (_database, storage, config) => {
      await refuseSeparatePersons(storage)
      const { rows, project } = await run(storage, config)
      if (options.json) printJson({ rows, dry_run: isDryRun, project: project ?? null })
      else if (project) describe(project, rows, isDryRun)
      else console.log(isDryRun ? `Would import ${rows} rows. Nothing was written.` : `Imported ${rows} rows.`)
      // Servers that miss this notification find the change in the change log.
      if (storage.pool && project && !isDryRun) await notifyChanges(storage.pool)
    },
    { database: 'create' },
  )
}

/** A full export is a backup: its audit logs continue with a new segment, and its sign-ins may have ended since it was made. */
async function takeOver(tx: Stores, now: Instant): Promise<void> {
  // No server runs on an empty database: there is none to notify.
  await tx.identity.removeAllSessions()
  await beginSegment(tx, now)
}

async function recordImport(tx: Stores, { id, name, organization }: BroughtProject, now: Instant): Promise<void> {
  const record = { scope: 'Project', itemId: id, name, activity: 'imported' } as const
  recordAudit(tx, commandLine('import'), { organizationId: organization.id }, record, now)
  await announceProject(tx, { id, organizationId: organization.id }, now)
}

function describe(
  { id, name, organization, token, notes, secretKeys }: BroughtProject,
  rows: number,
  isDryRun: boolean,
) {
  const place = `into the organization ${organization.name} (${organization.id})`
  if (isDryRun) console.log(`Would import ${rows} rows as a new project, ${name}, ${place}.`)
  else console.log(`Imported ${rows} rows as project ${id}, ${name}, ${place}. Its token: ${token}`)
  for (const note of notes) console.log(`  ${note}`)
  for (const { label, value } of secretKeys) {
    const shown = isDryRun ? '' : `, shown once: ${value}`
    console.log(`  The secret key ${label} is replaced, because another project here uses the exported one${shown}`)
  }
  if (isDryRun) console.log('Nothing was written.')
}

async function findCredentials(storage: Storage, config: Config): Promise<Credentials> {
  const instance = sqlInstanceStore(storage.kysely)
  const box = createSecretBox(await findSecretKey(config.secretKey, storage.sqlite?.path, instance))
  return {
    newUuid,
    newToken: () => newSecret('phc_'),
    newSecretKey() {
      const value = newSecret('phs_')
      return { id: newId(), value, hash: hashSecret(value), mask: maskSecret(value) }
    },
    moveSecrets: (sealed, from, to) => orUndefined(() => moveSecrets(box, sealed, from, to)),
    canOpenPluginToken: sealed => orUndefined(() => box.open(sealed, tokenPurpose)) !== undefined,
  }
}

/** Undefined for what was encrypted with another key. */
function orUndefined<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

/** Reads a line on demand, so that memory stays bounded while the database is busy. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (rest + (chunk as string)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
