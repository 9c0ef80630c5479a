import { CompiledQuery, Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPersonLedger, type PersonLedger } from '../features/persons/person-ledger.ts'
import { type PersonStores, sqlStores } from '../stores.ts'
import { createTestDatabase, dialects, type TestDatabase } from '../testing/databases.ts'
import { migrate } from './migrations/migrate.ts'
import { personsMigrations } from './persons-migrations/persons-migrations.ts'
import { postgresDialect } from './postgres/postgres-driver.ts'
import { openPostgresPool } from './postgres/postgres-pool.ts'
import { readOnlyEnd } from './sql-database.ts'
import type { Tables } from './tables.generated.ts'

/** Statements that read several partitions, and why that is so. All others name the key of the partition. */
const acrossPartitions: Readonly<Record<string, string>> = {
  'cohortMembers.list': 'a page of the dashboard: members are distributed by person',
  'eventDays.trim': 'background work for one event of all persons',
  'eventDays.remove': 'background work for one event of all persons',
  'personRetention.noteUnrecorded': 'background work for all projects',
  'personRetention.removeUnseen': 'background work for all projects',
  'personRetention.forget': 'background work for all projects',
  'projectRemains.listProjectIds': 'background work for all projects',
}

const at = '2026-01-01T00:00:00.000000Z'
const page = { limit: 10, offset: 0 }
const set = { set: { plan: 'pro' }, setOnce: {}, unset: [] }
const ref = { typeIndex: 0, key: 'acme' }

describe.runIf(dialects.includes('postgres' as never))('statements on the persons database', () => {
  const asked: CompiledQuery[] = []
  let database: TestDatabase
  let db: Kysely<Tables>
  let personId: number
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'empty')
    const pool = openPostgresPool(database.url, () => {})
    db = new Kysely<Tables>({ dialect: postgresDialect(pool), log: ({ query }) => void asked.push(query) })
    await migrate(db, 'postgres', { steps: personsMigrations })
    await write(sqlStores(db, readOnlyEnd), ['a', 'b', 'c', 'd'], ledger => {
      for (const id of ['a', 'b', 'c', 'd']) ledger.see(id, at)
    })
    const person = (await sqlStores(db, readOnlyEnd).persons.findByDistinctIds(1, ['a'])).get('a')
    personId = Number(person!.id)
  })
  afterAll(async () => {
    await db.destroy()
    await database.drop()
  })

  async function write(stores: PersonStores, ids: readonly string[], change: (ledger: PersonLedger) => void) {
    const ledger = createPersonLedger(await stores.persons.findByDistinctIds(1, ids), () => crypto.randomUUID())
    change(ledger)
    await stores.persons.write(1, ledger.drafts())
  }

  const hashKeys = [{ flagKey: 'f', hashKey: 'h' }]
  const event = { id: 1, name: 'paid', countedSince: at }
  const day = { eventId: 1, day: 20_000, count: 1 }
  const calls: Readonly<Record<string, (stores: PersonStores) => Promise<unknown>>> = {
    'persons.findByDistinctIds': s => s.persons.findByDistinctIds(1, ['a', 'b', 'x']),
    'persons.find': s => s.persons.find(1, personId),
    'persons.findByUuid': s => s.persons.findByUuid(1, 'u'),
    'persons.write': s =>
      write(s, ['b', 'c', 'new'], ledger => {
        ledger.merge('b', 'c', at, 'force')
        ledger.see('new', at)
      }),
    'persons.remove': async s => {
      const person = (await s.persons.findByDistinctIds(1, ['d'])).get('d')
      await s.persons.remove(1, person!.id)
    },
    'persons.count': s => s.persons.count(1),
    'persons.list': s => s.persons.list(1, { distinctId: 'a', email: 'e' }, page),
    'persons.sample': s => s.persons.sample(1),
    'persons.scan': s => s.persons.scan(1, 0, 10),
    'persons.search': s => s.persons.search(1, { search: 'x' }, 0, 10),
    'persons.listDistinctIds': s => s.persons.listDistinctIds(1, [personId], 10),
    'persons.scanDistinctIds': s => s.persons.scanDistinctIds(1, 'a', 10),
    'persons.countDistinctIds': s => s.persons.countDistinctIds(1),
    'persons.listHashKeys': s => s.persons.listHashKeys([personId]),
    'persons.addHashKeys': s => s.persons.addHashKeys(1, personId, hashKeys),
    'groups.update': async s => {
      await s.groups.update(1, ref, { set: { size: 1 }, setOnce: {}, unset: [] }, at)
      await s.groups.update(1, ref, set, at)
    },
    'groups.find': s => s.groups.find(1, ref),
    'groups.findMany': s => s.groups.findMany(1, [ref]),
    'groups.list': s => s.groups.list(1, 0, 'x', page),
    'groups.sample': s => s.groups.sample(1, 0),
    'groups.remove': s => s.groups.remove(1, ref),
    'cohortMembers.add': s => s.cohortMembers.add(1, 1, [personId]),
    'cohortMembers.holding': s => s.cohortMembers.holding(personId, [1, 2]),
    'cohortMembers.list': s => s.cohortMembers.list(1, 1, 'x', page),
    'cohortMembers.findPersons': s => s.cohortMembers.findPersons(1, ['a', 'b']),
    'cohortMembers.findPersonsByUuid': s => s.cohortMembers.findPersonsByUuid(1, ['a', 'b']),
    'cohortMembers.remove': s => s.cohortMembers.remove(1, [personId]),
    'cohortMembers.removePerson': s => s.cohortMembers.removePerson(1, personId),
    'eventDays.add': s => s.eventDays.add(1, [{ ...day, personId }]),
    'eventDays.histories': s => s.eventDays.histories([personId], [event], 0),
    'eventDays.replaceHistories': s =>
      s.eventDays.replaceHistories(1, 2, [{ personId, distinctIds: ['a'], days: new Map([[20_000, 1]]) }]),
    'eventDays.trim': s => s.eventDays.trim(1, 30_000, 10),
    'eventDays.remove': s => s.eventDays.remove(1, 10),
    'personRetention.noteSeen': s => s.personRetention.noteSeen(1, ['a'], at),
    'personRetention.noteUnrecorded': s => s.personRetention.noteUnrecorded(0, 10, at),
    'personRetention.removeUnseen': s => s.personRetention.removeUnseen('2026-02-01T00:00:00.000000Z', 10, at),
    'personRetention.forget': s => s.personRetention.forget(10),
    'projectRemains.listProjectIds': s => s.projectRemains.listProjectIds(0, 10),
    'projectRemains.removePart': async s => {
      await s.groups.update(2, ref, set, at)
      while (await s.projectRemains.removePart(2, 10));
    },
  }

  const limits = { personDays: 30, flagsPerProjectMax: 1, definitionBytesPerProjectMax: 1 }

  it.each(Object.keys(calls))('%s reads one partition for each key', async name => {
    asked.length = 0
    await calls[name]!(sqlStores(db, readOnlyEnd, undefined, limits))
    const widths: number[] = []
    for (const { sql, parameters } of [...asked]) {
      if (!/^\s*(select|insert|update|delete|with)/i.test(sql)) continue
      const { rows } = await db.executeQuery<Record<string, string>>(
        CompiledQuery.raw(`explain ${sql}`, [...parameters]),
      )
      widths.push(...partitionsOf(rows.map(row => row['QUERY PLAN']!)))
    }
    expect(asked.length).toBeGreaterThan(0)
    // A statement for several persons reads the partitions of these: here at most two.
    if (name in acrossPartitions) expect(Math.max(...widths)).toBeGreaterThan(2)
    else expect(Math.max(0, ...widths), asked.map(({ sql }) => sql).join('\n')).toBeLessThanOrEqual(2)
  })

  it('are all examined', () => {
    const stores = sqlStores(db, readOnlyEnd)
    const names = (
      ['persons', 'groups', 'cohortMembers', 'eventDays', 'personRetention', 'projectRemains'] as const
    ).flatMap(store => Object.keys(stores[store]).map(method => `${store}.${method}`))
    expect(Object.keys(calls).toSorted()).toEqual(names.toSorted())
    expect(names).toEqual(expect.arrayContaining(Object.keys(acrossPartitions)))
  })
})

/** How many partitions of each table a plan reads. */
function partitionsOf(plan: readonly string[]): number[] {
  const partitions = new Map<string, Set<string>>()
  for (const [, table, number] of plan
    .join('\n')
    .matchAll(/(?:Scan|Index Scan) (?:using \S+ )?on "?([a-z_]+?)_(\d+)"?[ \n]/g)) {
    partitions.set(table!, (partitions.get(table!) ?? new Set()).add(number!))
  }
  return [...partitions.values()].map(numbers => numbers.size)
}
