import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  type ClickHouseClient,
  createClickHouseClient,
} from '../../packages/server/src/features/events/clickhouse/clickhouse-client.ts'
import { rowsOfBlock } from '../../packages/server/src/features/events/clickhouse/count-block.ts'
import { countStatements } from '../../packages/server/src/features/events/clickhouse/count-statements.ts'
import { migrateEvents } from '../../packages/server/src/features/events/clickhouse/migrate-events.ts'
import { createSchema, storedTables, tables } from '../../packages/server/src/features/events/clickhouse/schema.ts'
import { trimCounts } from '../../packages/server/src/features/events/clickhouse/trim-counts.ts'
import { dayOf } from '../../packages/server/src/features/events/usage/usage.ts'
import { userHash } from '../../packages/server/src/features/events/usage/user-sample.ts'
import { instantOf, plusMilliseconds } from '../../packages/server/src/instant.ts'
import type { JobContext } from '../../packages/server/src/jobs/job-runner.ts'
import { eventsUrl } from '../../packages/server/src/settings/events-url.ts'
import { startScenario } from '../../packages/server/src/testing/scenario.ts'

/** Every statement of the adapter, on the ClickHouse of the run. */
describe('ClickHouse', () => {
  const database = `statements_${process.pid}`
  const statements = countStatements(database)
  let client: ClickHouseClient
  beforeAll(async () => {
    client = createClickHouseClient(eventsUrl((inject('eventsUrl') ?? '').replace('/database', `/${database}`)))
    await createSchema(client).ensure()
  })
  afterAll(async () => {
    for (const origin of client.url.origins) await client.execute(origin, `DROP DATABASE IF EXISTS ${database}`)
  })

  const read = (statement: string) => client.query(statement, 10_000)
  const insert = async (block: string, ...batches: Parameters<typeof rowsOfBlock>[1]) => {
    const rows = rowsOfBlock(block, batches)
    await client.insert(tables.usage, rows.usage)
    await client.insert(tables.usersInput, rows.users)
    await client.insert(tables.minutes, rows.minutes)
    await client.insert(tables.personEventsInput, rows.performed)
  }
  const hashes = (count: number) => Array.from({ length: count }, (_, n) => userHash(1, `user-${n}`))
  const range = (flagKey: string) => ({ flagKey, kind: 'called', from: '2026-01-01', to: '2026-12-31' }) as const

  it('has its tables, and creating them again changes nothing', async () => {
    await createSchema(client).ensure()
    const names = (await read(statements.tables())).map(([name]) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        ...storedTables,
        tables.usersInput,
        tables.usersView,
        tables.personEventsInput,
        tables.personEventsView,
      ]),
    )
    expect(String((await read(statements.version()))[0]?.[0])).toMatch(/^\d+\.\d+/)
  })

  it('counts a block once, however often and to whichever server it is sent', async () => {
    const key = `it's a "flag" \\ é 😀`
    const batch = {
      project: 1,
      usage: [[key, 'called', 'true', '2026-01-31', 5, hashes(3)] as const],
      minutes: [['order', 29_000_000, 4] as const],
    }
    for (const origin of [...client.url.origins, ...client.url.origins]) {
      const rows = rowsOfBlock('block-1', [batch])
      const server = createClickHouseClient({ ...client.url, origins: [origin] })
      await server.insert(tables.usage, rows.usage)
      await server.insert(tables.usersInput, rows.users)
      await server.insert(tables.minutes, rows.minutes)
    }
    await insert('block-2', { ...batch, usage: [[key, 'called', 'true', '2026-02-01', 2, hashes(4)]] })
    const settled = (statement: string) => expect.poll(() => read(statement))
    await settled(statements.calls(1, range(key))).toEqual([
      ['true', '2026-01-31', 5, 0],
      ['true', '2026-02-01', 2, 0],
    ])
    expect(await read(statements.usersByDay(1, range(key)))).toHaveLength(2)
    expect(await read(statements.users(1, range(key)))).toEqual([['true', 4]])
    expect(await read(statements.callsOfFlags(1, 'called', [key, 'other'], '2026-02-01'))).toEqual([
      [key, '2026-02-01', 2],
    ])
    await settled(statements.minutes(1, ['order', `o'clock`], 28_999_999, 29_000_001)).toEqual([
      ['order', 29_000_000, 8],
    ])
    expect(await read(statements.calls(2, range(key)))).toEqual([])
  })

  it('knows what users did by day, without what was counted live, however often a block is sent', async () => {
    const [ada, bob] = hashes(2) as [number, number]
    const event = `it's "paid" \\ é 😀`
    const live = 2 ** 50 + 7
    const performed = [
      [event, '2026-01-31', 0, 1, [ada, bob]] as const,
      [event, '2026-01-31', 0, 2, [ada]] as const,
      [event, '2026-02-01', live, 5, [ada, bob]] as const,
      ['other', '2026-02-01', 0, 9, [ada]] as const,
    ]
    const batch = { project: 3, usage: [], minutes: [], performed }
    for (let sent = 0; sent < 3; sent++)
      await insert('performed-1', batch, { ...batch, performed: performed.slice(0, 1) })
    await insert('performed-2', { ...batch, performed: [[event, '2026-02-01', 8, 4, [bob]]] })
    const found = async (epoch: number, from = '2026-01-31', users = [ada, bob, 1]) =>
      new Map(
        (await read(statements.personEvents(3, { event, epoch, from }, users))).map(([user, day, n]) => [
          `${user === ada ? 'ada' : 'bob'} ${day}`,
          n,
        ]),
      )
    await expect
      .poll(() => found(live))
      .toEqual(
        new Map([
          ['ada 2026-01-31', 4],
          ['bob 2026-01-31', 2],
          ['bob 2026-02-01', 4],
        ]),
      )
    expect(await found(8, '2026-02-01')).toEqual(
      new Map([
        ['ada 2026-02-01', 5],
        ['bob 2026-02-01', 5],
      ]),
    )
    const many = Array.from({ length: 2000 }, (_, n) => 2 ** 52 + n)
    expect(await found(live, '2026-01-31', many)).toEqual(new Map())
  })

  it('agrees with a model over random blocks, of which some are sent again', async () => {
    const calls = new Map<string, number>()
    const users = new Map<string, Set<number>>()
    for (let n = 0; n < 60; n++) {
      const day = `2026-03-${String(randomInt(1, 4)).padStart(2, '0')}`
      const variant = ['true', 'false', 'control'][randomInt(3)] as string
      const some = hashes(200).filter(() => randomInt(10) === 0)
      const count = some.length + randomInt(5)
      const batch = { project: 9, usage: [['model', 'called', variant, day, count, some] as const], minutes: [] }
      for (let sent = randomInt(1, 4); sent > 0; sent--) await insert(`random-${n}`, batch)
      calls.set(`${day} ${variant}`, (calls.get(`${day} ${variant}`) ?? 0) + count)
      users.set(variant, new Set([...(users.get(variant) ?? []), ...some]))
    }
    const counted = (await read(statements.calls(9, range('model')))).map(([variant, day, n]) => [
      `${day} ${variant}`,
      n,
    ])
    expect(new Map(counted as [string, number][])).toEqual(calls)
    expect(new Map((await read(statements.users(9, range('model')))) as [string, number][])).toEqual(
      new Map([...users].map(([variant, set]) => [variant, set.size])),
    )
  })

  it('drops months beyond the retention period', async () => {
    const now = instantOf(new Date())
    const today = dayOf(now)
    const old = dayOf(plusMilliseconds(now, -500 * 24 * 3_600_000))
    const minuteOfDay = (day: string) => Date.parse(day) / 60_000
    for (const day of [old, today]) {
      const usage = [['kept', 'called', 'true', day, 1, hashes(1)] as const]
      await insert(`trim-${day}`, { project: 5, usage, minutes: [['kept', minuteOfDay(day), 1]] })
    }
    await trimCounts(client, 366, 10_000).run({ now } as JobContext)
    const left = () => read(statements.calls(5, { ...range('kept'), from: '2000-01-01', to: '2099-01-01' }))
    await expect.poll(left).toEqual([['true', today, 1, 0]])
    await expect
      .poll(() => read(statements.minutes(5, ['kept'], minuteOfDay(old), minuteOfDay(today) + 1)))
      .toEqual([['kept', minuteOfDay(today), 1]])
  })

  it('gets what the database has counted, once, and totals that are compared', async () => {
    const sql = await startScenario('sqlite', { environment: { EVENTS_URL: '' } })
    const { database: source } = sql.halyard
    const now = instantOf(new Date())
    const [today, yesterday] = [dayOf(now), dayOf(plusMilliseconds(now, -24 * 3_600_000))]
    const add = (day: string, calls: number, users: readonly number[]) =>
      source.transaction(tx =>
        tx.usage.add(sql.projectId, [
          { flagKey: 'moved', kind: 'called', variant: 'true', day, calls, userHashes: users, lastAt: now },
        ]),
      )
    await add(yesterday, 40, hashes(20))
    await add(today, 60, hashes(30))
    const copy = () => migrateEvents(source, client, { now, onDay: () => {} })
    expect(await copy()).toMatchObject({ calls: 100, series: 2, copied: [yesterday, today], unequal: [] })
    expect(await copy()).toMatchObject({ calls: 100, copied: [], unequal: [] })
    // A node that was not restarted yet.
    await add(today, 1, [])
    expect(await copy()).toMatchObject({ calls: 101, copied: [today], unequal: [] })
    // What is counted from now on.
    await insert('after', {
      project: sql.projectId,
      usage: [['moved', 'called', 'true', today, 9, hashes(31)]],
      minutes: [],
    })
    const moved = { ...range('moved'), from: yesterday, to: today }
    expect(await read(statements.calls(sql.projectId, moved))).toEqual([
      ['true', yesterday, 40, 20],
      ['true', today, 70, 30],
    ])
    expect(await read(statements.users(sql.projectId, moved))).toEqual([['true', 31]])
    await sql.close()
  })
})
