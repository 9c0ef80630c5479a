import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sql } from 'kysely'
import { type Config, readConfig } from '../config.ts'
import { migrations } from '../storage/migrations/all-migrations.ts'
import { schemaVersion } from '../storage/migrations/migrate.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { type Finding, securityFindings } from './security-findings.ts'

const good = (text: string): Finding => ({ isGood: true, text })
const bad = (text: string): Finding => ({ isGood: false, text })

const freeBytesMin = 200 * 1024 * 1024
const clockSkewMillisecondsMax = 5000

/** `halyard doctor [--security]`: looks, changes nothing, and says what to do. */
export async function doctor(args: string[]): Promise<void> {
  const findings = args.includes('--security') ? securityFindings(readConfig(process.env)) : await examine()
  for (const { isGood, text } of findings) console.log(`${isGood ? 'ok  ' : 'BAD '} ${text}`)
  if (findings.some(finding => !finding.isGood)) process.exitCode = 1
}

async function examine(): Promise<readonly Finding[]> {
  const findings: Finding[] = [checkNode()]
  let config: Config
  try {
    config = readConfig(process.env)
    findings.push(good('Settings can be read.'))
  } catch (error) {
    return [...findings, bad(`Settings: ${(error as Error).message}`)]
  }
  findings.push(...checkDisk(config))
  const storage = tryOpen(config)
  if (!('kysely' in storage)) return [...findings, storage]
  try {
    await storage.ping()
    findings.push(
      good(`The ${storage.dialect} database answers.`),
      await checkSchema(storage),
      await checkClock(storage),
    )
    if (storage.sqlite) findings.push(await checkIntegrity(storage))
  } catch (error) {
    findings.push(
      bad(`The database does not answer (${(error as Error).message}). Check DATABASE_URL and that it is running.`),
    )
  } finally {
    await storage.close()
  }
  return findings
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major > 20 || (major === 20 && minor >= 19)
    ? good(`Node ${process.version}.`)
    : bad(`Node ${process.version} is too old: install 20.19 or newer.`)
}

function checkDisk(config: Config): Finding[] {
  if (!config.databaseUrl.startsWith('sqlite:')) return []
  const folder = dirname(resolve(config.databaseUrl.slice('sqlite:'.length)))
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize
    const text = `${Math.round(free / 1024 ** 2)} MiB free in ${folder}.`
    return [free >= freeBytesMin ? good(text) : bad(`Only ${text} Make room: writes fail when the disk is full.`)]
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
  const known = migrations.at(-1)?.version ?? 0
  const found = await schemaVersion(storage.kysely).catch(() => 0)
  if (found > known)
    return bad(`The schema (version ${found}) is newer than this program (${known}). Start the newer Halyard.`)
  return found === known
    ? good(`Schema version ${found}, as this program expects.`)
    : bad(`Schema version ${found}; this program expects ${known}. Run: halyard migrate (a start does it as well).`)
}

/** Several nodes share one database; expiry and schedules need their clocks to agree. */
async function checkClock(storage: Storage): Promise<Finding> {
  if (storage.dialect === 'sqlite') return good(`The clock says ${new Date().toISOString()}.`)
  const before = Date.now()
  const { rows } = await sql<{ now: string }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(
    storage.kysely,
  )
  const skew = Math.round(Number(rows[0]?.now) - (before + Date.now()) / 2)
  return Math.abs(skew) <= clockSkewMillisecondsMax
    ? good(`The clock agrees with the database's within ${Math.abs(skew)} ms.`)
    : bad(`The clock differs from the database's by ${skew} ms. Set up time synchronisation.`)
}

async function checkIntegrity(storage: Storage): Promise<Finding> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check`.execute(storage.kysely)
  return rows[0]?.quick_check === 'ok'
    ? good('The database file is sound.')
    : bad(`The database file is damaged (${rows[0]?.quick_check}). Restore a backup.`)
}
