import { type Kysely, sql } from 'kysely'
import type { Storage } from './open-storage.ts'
import type { Tables } from './tables.generated.ts'

/** What a persons database of its own names in the main one. */
const namedTables = [
  { table: 'projects', by: 'persons', column: 'project_id' },
  { table: 'projects', by: 'person_distinct_ids', column: 'project_id' },
  { table: 'projects', by: 'groups', column: 'project_id' },
  { table: 'cohorts', by: 'cohort_people', column: 'cohort_id' },
  { table: 'counted_events', by: 'person_event_days', column: 'event_id' },
] as const

type Named = (typeof namedTables)[number]

/**
 * A main database that was restored from a backup, or moved, numbers on from the highest id that it has. Persons, members and counts of
 * what it has forgotten may still be there, and would belong to what gets these ids next: so they are skipped.
 */
export async function skipKnownIds(main: Pick<Storage, 'kysely' | 'dialect'>, persons: Pick<Storage, 'kysely'>) {
  for (const named of namedTables) {
    const { rows } = await sql<{ id: number | null }>`
      select max(${sql.ref(named.column)}) as id from ${sql.table(named.by)}`.execute(persons.kysely)
    const highestId = Number(rows[0]?.id ?? 0)
    if (highestId > 0) await (main.dialect === 'sqlite' ? skipOnSqlite : skipOnPostgres)(main.kysely, named, highestId)
  }
}

async function skipOnSqlite(db: Kysely<Tables>, { table }: Named, highestId: number): Promise<void> {
  await db.transaction().execute(async tx => {
    await sql`update sqlite_sequence set seq = max(seq, ${highestId}) where name = ${table}`.execute(tx)
    await sql`insert into sqlite_sequence (name, seq) select ${table}, ${highestId}
      where not exists (select 1 from sqlite_sequence where name = ${table})`.execute(tx)
  })
}

async function skipOnPostgres(db: Kysely<Tables>, { table }: Named, highestId: number): Promise<void> {
  const { rows } = await sql<{ name: string }>`select pg_get_serial_sequence(${table}, 'id') as name`.execute(db)
  const sequence = sql.raw(rows[0]!.name)
  const isBehind = async (on: Kysely<Tables>) => {
    const { rows } = await sql<{ next: number }>`
      select last_value + case when is_called then 1 else 0 end as next from ${sequence}`.execute(on)
    return Number(rows[0]!.next) <= highestId
  }
  if (!(await isBehind(db))) return
  await db.transaction().execute(async tx => {
    // Another node that takes numbers meanwhile would get some of them twice.
    await sql`lock table ${sql.table(table)} in share row exclusive mode`.execute(tx)
    if (await isBehind(tx)) await sql`select setval(${rows[0]!.name}::regclass, ${highestId})`.execute(tx)
  })
}
