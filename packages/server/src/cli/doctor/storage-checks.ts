import { sql } from 'kysely'
import { refuseOtherSchema } from '../../storage/migrations/migrate.ts'
import type { Migration } from '../../storage/migrations/migration.ts'
import type { Storage } from '../../storage/open-storage.ts'
import type { Finding } from './security-findings.ts'

export const good = (text: string): Finding => ({ isGood: true, text })
export const bad = (text: string): Finding => ({ isGood: false, text })

const clockSkewMillisecondsMax = 5000

/** Several nodes share one database; expiry and schedules need their clocks to agree. */
export async function checkClock(storage: Storage, name = 'the database'): Promise<Finding> {
  if (storage.dialect === 'sqlite') return good(`System clock: ${new Date().toISOString()}.`)
  const before = Date.now()
  const { rows } = await sql<{ now: string }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(
    storage.kysely,
  )
  const skew = Math.round(Number(rows[0]?.now) - (before + Date.now()) / 2)
  return Math.abs(skew) <= clockSkewMillisecondsMax
    ? good(`The clock agrees with that of ${name} within ${Math.abs(skew)} ms.`)
    : bad(`The clock differs from that of ${name} by ${skew} ms. Set up time synchronization.`)
}

/** What a start says as well when the two databases are mixed up. */
export const otherSchemaFinding = (storage: Storage, steps: readonly Migration[]): Promise<Finding | undefined> =>
  refuseOtherSchema(storage.kysely, steps).then(
    () => undefined,
    error => bad((error as Error).message),
  )

export async function checkIntegrity(storage: Storage, name = 'database'): Promise<Finding> {
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check`.execute(storage.kysely)
  return rows[0]?.quick_check === 'ok'
    ? good(`The ${name} file is intact.`)
    : bad(`The ${name} file is damaged (${rows[0]?.quick_check}). Restore a backup.`)
}
