import { afterAll, beforeAll, expect, it } from 'vitest'
import { countsAreInDatabase } from '../../../testing/clickhouse-lane.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { type EventCount, minuteOf } from './event-counts.ts'
import type { UsageIncrement } from './usage.ts'
import { sampledUsersMax, userHash } from './user-sample.ts'

const at = '2026-01-01T10:00:00.000000Z'
const hashes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => userHash(1, `user-${from + n}`))

onEachDatabase('usage and event counts', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  const add = (...increments: UsageIncrement[]) =>
    s.halyard.database.transaction(tx => tx.usage.add(s.projectId, increments))
  const increment = (more: Partial<UsageIncrement>): UsageIncrement => ({
    flagKey: 'flag',
    kind: 'called',
    variant: 'true',
    day: '2026-01-01',
    calls: 1,
    userHashes: [],
    lastAt: at,
    ...more,
  })
  const range = { kind: 'called', from: '2026-01-01', to: '2026-01-31' } as const
  const series = (flagKey: string) => s.halyard.database.read(tx => tx.usage.series(s.projectId, { flagKey, ...range }))
  const unique = (flagKey: string) =>
    s.halyard.database.read(tx => tx.usage.uniqueUsers(s.projectId, { flagKey, ...range }))

  it('counts calls and distinct users by variant and day, without counting a user twice', async () => {
    await add(
      increment({ calls: 3, userHashes: hashes(0, 2) }),
      increment({ variant: 'control', calls: 1, userHashes: hashes(5, 6) }),
      increment({ day: '2026-01-02', calls: 2, userHashes: hashes(1, 3) }),
      increment({ kind: 'viewed', calls: 9 }),
    )
    await add(increment({ calls: 2, userHashes: hashes(1, 4), lastAt: '2026-01-01T09:00:00.000000Z' }))
    expect(await series('flag')).toEqual([
      { day: '2026-01-01', variant: 'control', calls: 1, users: 1 },
      { day: '2026-01-01', variant: 'true', calls: 5, users: 4 },
      { day: '2026-01-02', variant: 'true', calls: 2, users: 2 },
    ])
    expect(await unique('flag')).toEqual(
      new Map([
        ['control', 1],
        ['true', 4],
      ]),
    )
    const last = await s.halyard.database.read(tx => tx.usage.lastUsed(s.projectId, 'called'))
    expect(last).toEqual(new Map([['flag', at]]))
  })

  it('counts users exactly up to the sample limit and estimates beyond it, in bounded space', async () => {
    await add(increment({ flagKey: 'big', userHashes: hashes(0, sampledUsersMax) }))
    expect((await series('big'))[0]?.users).toBe(sampledUsersMax)
    const exact = 30_000
    for (let from = 5000; from < exact; from += 5000) {
      await add(increment({ flagKey: 'big', userHashes: hashes(from, from + 5000) }))
    }
    const users = (await series('big'))[0]?.users ?? 0
    expect(Math.abs(users - exact) / exact).toBeLessThan(0.05)
    expect((await unique('big')).get('true')).toBe(users)
    const { n } = await s.halyard.storage.kysely
      .selectFrom('flag_usage_users')
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    expect(Number(n)).toBeLessThanOrEqual(sampledUsersMax + 100)
  })

  it('loses no count when nodes add to the same series concurrently', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        add(
          increment({ flagKey: 'busy', userHashes: hashes(n * 5, n * 5 + 10) }),
          increment({ flagKey: 'busy', variant: 'false', userHashes: hashes(n, n + 1) }),
        ),
      ),
    )
    expect(await series('busy')).toEqual([
      { day: '2026-01-01', variant: 'false', calls: 10, users: 10 },
      { day: '2026-01-01', variant: 'true', calls: 10, users: 55 },
    ])
  })

  it.runIf(countsAreInDatabase)('removes user hashes first and whole days later', async () => {
    await add(increment({ flagKey: 'old', day: '2025-01-01', userHashes: hashes(0, 3) }))
    const { database } = s.halyard
    expect(await database.transaction(tx => tx.usage.removeUsersBefore('2025-01-02', 10))).toBe(1)
    expect(await database.transaction(tx => tx.usage.removeUsersBefore('2025-01-02', 10))).toBe(0)
    const old = { flagKey: 'old', kind: 'called', from: '2025-01-01', to: '2025-01-01' } as const
    expect(await database.read(tx => tx.usage.series(s.projectId, old))).toMatchObject([{ users: 3 }])
    expect(await database.read(tx => tx.usage.uniqueUsers(s.projectId, old))).toEqual(new Map())
    expect(await database.transaction(tx => tx.usage.removeBefore('2025-01-02', 10))).toBe(1)
    expect(await database.read(tx => tx.usage.series(s.projectId, old))).toEqual([])
  })

  it('sums events by name, time window and flag value', async () => {
    const minute = minuteOf(at)
    const count = (more: Partial<EventCount>): EventCount => ({
      event: '$exception',
      flagKey: '',
      flagValue: '',
      minute,
      count: 1,
      ...more,
    })
    const { database } = s.halyard
    const counts = [
      count({ count: 5 }),
      count({ minute: minute + 1, count: 2 }),
      count({ flagKey: 'f', flagValue: 'test' }),
      count({ flagKey: 'f', flagValue: 'control', count: 2 }),
      count({ flagKey: 'f', flagValue: 'false', count: 4 }),
      count({ event: 'other' }),
    ]
    await Promise.all([1, 2, 3].map(() => database.transaction(tx => tx.eventCounts.add(s.projectId, counts))))
    const window = { event: '$exception', from: at, to: '2026-01-01T10:01:00.000000Z' }
    await database.read(async tx => {
      expect(await tx.eventCounts.sum(s.projectId, window)).toBe(15)
      expect(await tx.eventCounts.sum(s.projectId, { ...window, flag: { key: 'f' } })).toBe(9)
      expect(await tx.eventCounts.sum(s.projectId, { ...window, flag: { key: 'f', value: 'test' } })).toBe(3)
      expect(await tx.eventCounts.sum(s.projectId, { ...window, event: 'never' })).toBe(0)
      expect(await tx.eventCounts.series(s.projectId, { ...window, to: '2026-01-01T11:00:00.000000Z' })).toEqual([
        { minute, count: 15 },
        { minute: minute + 1, count: 6 },
      ])
      expect(await tx.eventCounts.listNames(s.projectId, at)).toEqual(['$exception', 'other'])
    })
    expect(await database.transaction(tx => tx.eventCounts.removeBefore(minute + 1))).toBe(5)
  })
})
