import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Config, readConfig } from '../../config.ts'
import { migrations } from '../../storage/migrations/all-migrations.ts'
import { schemaVersion } from '../../storage/migrations/migrate.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'
import { green, printJson, printRows, red } from '../output.ts'
import { exitCodes } from '../usage.ts'
import { refuseMissingFile, withDatabase } from '../with-database.ts'
import { daysSince } from './days-since.ts'
import { eventsFindings } from './events-findings.ts'
import { checkpointKeyFindings, installationSecrets } from './installation-keys.ts'
import { monitoringFindings } from './monitoring-findings.ts'
import { personsFindings } from './persons-findings.ts'
import { retentionFindings } from './retention-findings.ts'
import { listSecrets, type StoredSecret } from './secrets.sql.ts'
import { type Finding, securityFindings } from './security-findings.ts'
import { bad, checkClock, checkIntegrity, good, otherSchemaFinding } from './storage-checks.ts'

const freeBytesMin = 200 * 1024 * 1024

interface Options {
  readonly security?: boolean
  readonly secrets?: boolean
  readonly json?: boolean
}

/** `halyard doctor [--security | --secrets]`: changes nothing, and says what to do. Exit code 1 when a check fails. */
export async function doctor({ security, secrets, json }: Options): Promise<void> {
  if (secrets) return showSecrets({ json: json ?? false })
  const findings = security ? securityFindings(readConfig(process.env)) : await examine()
  if (json) printJson(findings.map(({ isGood, text }) => ({ ok: isGood, text })))
  else for (const { isGood, text } of findings) console.log(`${isGood ? green('ok  ') : red('BAD ')} ${text}`)
  if (findings.some(finding => !finding.isGood)) process.exitCode = exitCodes.failure
}

async function showSecrets(options: { readonly json: boolean }): Promise<void> {
  const secrets = await withDatabase(async (_database, storage, config) => [
    ...(await installationSecrets(config, storage)),
    ...(await listSecrets(storage.kysely)),
  ])
  const rows = secrets.sort(byAge).map(({ created_at, ...secret }) => ({
    age_days: created_at === null ? null : daysSince(created_at),
    created_at,
    ...secret,
  }))
  printRows(rows, ['age_days', 'kind', 'label', 'of', 'mask', 'last_used_at', 'expires_at'], options)
}

/** Oldest first; a secret of unknown age is older than the column that has it. */
const byAge = (a: StoredSecret, b: StoredSecret): number => ((a.created_at ?? '') < (b.created_at ?? '') ? -1 : 1)

async function examine(): Promise<readonly Finding[]> {
  const findings: Finding[] = [checkNode()]
  let config: Config
  try {
    config = readConfig(process.env)
    findings.push(good('The settings are valid.'))
  } catch (error) {
    return [...findings, bad(`Settings: ${(error as Error).message}`)]
  }
  findings.push(...(await monitoringFindings(config, process.env)), ...checkDisk(config))
  try {
    refuseMissingFile(config.databaseUrl)
  } catch (error) {
    return [...findings, bad((error as Error).message)]
  }
  const storage = tryOpen(config)
  if (!('kysely' in storage)) return [...findings, storage, ...(await personsFindings(config, undefined))]
  try {
    const main = await examineMain(config, storage)
    // Each of the two may be away without the other.
    const persons = await personsFindings(config, main.responds ? storage : undefined)
    return [...findings, ...main.findings, ...persons]
  } finally {
    await storage.close()
  }
}

async function examineMain(config: Config, storage: Storage) {
  const findings: Finding[] = []
  try {
    await storage.ping()
    const schema = await checkSchema(storage)
    findings.push(good(`The ${storage.dialect} database responds.`), schema, await checkClock(storage))
    if (schema.isGood)
      findings.push(...(await checkpointKeyFindings(config, storage)), ...(await retentionFindings(config, storage)))
    if (storage.sqlite) findings.push(await checkIntegrity(storage))
    findings.push(...(await eventsFindings(config, storage)))
    return { responds: true, findings }
  } catch (error) {
    findings.push(
      bad(`The database does not respond (${(error as Error).message}). Check DATABASE_URL and that it is running.`),
    )
    return { responds: false, findings }
  }
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 19)
    ? good(`Node ${process.version}.`)
    : bad(`Node ${process.version} is too old. Install 20.19 or newer.`)
}

function checkDisk(config: Config): Finding[] {
  if (!config.databaseUrl.startsWith('sqlite:')) return []
  const folder = dirname(resolve(config.databaseUrl.slice('sqlite:'.length)))
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize
    const text = `${Math.round(free / 1024 ** 2)} MiB free in ${folder}.`
    return [free >= freeBytesMin ? good(text) : bad(`Only ${text} Free some space: writes fail when the disk is full.`)]
  } catch {
    return [bad(`${folder} does not exist or cannot be written. Create it, or set DATABASE_URL to another path.`)]
  }
}

function tryOpen(config: Config): Storage | Finding {
  try {
    return openStorage(config.databaseUrl)
  } catch (error) {
    return bad(`The database cannot be opened: ${(error as Error).message}. Restore a backup if the file is damaged.`)
  }
}

async function checkSchema(storage: Storage): Promise<Finding> {
  const newestVersion = migrations.at(-1)?.version ?? 0
  const version = await schemaVersion(storage.kysely).catch(() => 0)
  const other = version > 0 && (await otherSchemaFinding(storage, migrations))
  if (other) return other
  if (version > newestVersion)
    return bad(
      `The schema (version ${version}) is newer than this program (${newestVersion}). Start the newer Halyard.`,
    )
  return version === newestVersion
    ? good(`Schema version ${version}, as this program expects.`)
    : bad(
        `Schema version ${version}; this program expects ${newestVersion}. Run: halyard migrate (every start does it as well).`,
      )
}
