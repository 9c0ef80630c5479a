import type { ClickHouseClient } from './clickhouse-client.ts'

/**
 * Every table can be sent the same rows twice. `flag_usage`, `event_minutes` and `person_events` keep one row per key and block, so that a
 * repeated row replaces itself. `flag_users` holds sets of users, to which adding a user twice changes nothing.
 */
export const tables = {
  usage: 'flag_usage',
  users: 'flag_users',
  /** Stores nothing: a view turns the users of its rows into states of `flag_users`. */
  usersInput: 'flag_users_input',
  usersView: 'flag_users_view',
  minutes: 'event_minutes',
  personEvents: 'person_events',
  /** Stores nothing: a view makes a row of `person_events` of each user. */
  personEventsInput: 'person_events_input',
  personEventsView: 'person_events_view',
} as const

/** Those with rows, each with a partition per month. */
export const storedTables = [tables.usage, tables.users, tables.minutes, tables.personEvents] as const

const series = 'project UInt32, flag String, kind String, day Date, variant String'
const seriesKey = 'project, flag, kind, day, variant'
const epochs = 'epoch UInt64, block UInt64, events UInt64'

/** No ON CLUSTER, with which old releases end: each server executes the statements for itself. */
export function schemaStatements(database: string, isReplicated: boolean): readonly string[] {
  const create = (kind: string, table: string) => `CREATE ${kind} IF NOT EXISTS ${database}.${table}`
  const engine = (name: string, table: string) =>
    isReplicated ? `Replicated${name}('/halyard/${database}/${table}', '{replica}')` : `${name}()`
  const stored = (table: string, columns: string, merge: string, key: string) =>
    `${create('TABLE', table)} (${columns}) ENGINE = ${engine(merge, table)} PARTITION BY toYYYYMM(day) ORDER BY (${key})`
  return [
    `CREATE DATABASE IF NOT EXISTS ${database}`,
    stored(
      tables.usage,
      `${series}, block String, calls UInt64, migrated_users UInt64`,
      'ReplacingMergeTree',
      `${seriesKey}, block`,
    ),
    stored(
      tables.users,
      `${series}, users AggregateFunction(uniqArray, Array(UInt64))`,
      'AggregatingMergeTree',
      seriesKey,
    ),
    `${create('TABLE', tables.usersInput)} (${series}, users Array(UInt64)) ENGINE = Null`,
    `${create('MATERIALIZED VIEW', tables.usersView)} TO ${database}.${tables.users} AS
      SELECT ${seriesKey}, uniqArrayState(users) AS users FROM ${database}.${tables.usersInput} GROUP BY ${seriesKey}`,
    stored(
      tables.minutes,
      'project UInt32, event String, day Date, minute UInt32, block String, events UInt64',
      'ReplacingMergeTree',
      'project, event, day, minute, block',
    ),
    stored(
      tables.personEvents,
      `project UInt32, event String, user_hash UInt64, day Date, ${epochs}`,
      'ReplacingMergeTree',
      'project, event, user_hash, day, epoch, block',
    ),
    `${create('TABLE', tables.personEventsInput)}
      (project UInt32, event String, day Date, ${epochs}, users Array(UInt64)) ENGINE = Null`,
    `${create('MATERIALIZED VIEW', tables.personEventsView)} TO ${database}.${tables.personEvents} AS
      SELECT project, event, arrayJoin(users) AS user_hash, day, epoch, block, events
      FROM ${database}.${tables.personEventsInput}`,
  ]
}

export interface Schema {
  /**
   * Creates what is missing on every server. Throws when none has the tables; once one has them, the others are prepared in the background and
   * tried again next time.
   */
  ensure(): Promise<void>
}

export function createSchema(client: ClickHouseClient): Schema {
  const { origins, database, isReplicated } = client.url
  const statements = schemaStatements(database, isReplicated)
  const ready = new Set<string>()
  const preparing = new Set<string>()

  async function prepare(origin: string): Promise<void> {
    preparing.add(origin)
    try {
      for (const statement of statements) await client.execute(origin, statement)
      ready.add(origin)
    } finally {
      preparing.delete(origin)
    }
  }

  return {
    async ensure() {
      const isFirst = ready.size === 0
      const missing = origins.filter(origin => !ready.has(origin) && !preparing.has(origin))
      const prepared = Promise.allSettled(missing.map(prepare))
      if (!isFirst) return
      const failed = (await prepared).find(result => result.status === 'rejected')
      if (ready.size === 0 && failed) throw failed.reason
    },
  }
}
