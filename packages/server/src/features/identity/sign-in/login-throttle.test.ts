import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { createLoginThrottle } from './login-throttle.ts'

const minute = 60_000
const password = 'correct horse battery'

onEachDatabase('sign-ins on two nodes', dialect => {
  let database: TestDatabase
  let nodes: readonly Scenario[]
  beforeAll(async () => {
    database = await createTestDatabase(dialect)
    const one = await startScenario(dialect, { databaseUrl: database.url })
    nodes = [one, await startScenario(dialect, { databaseUrl: database.url })]
    for (const name of ['ann', 'bob']) await one.join(name)
  })
  afterAll(async () => {
    for (const node of nodes) await node.close()
    await database.drop()
  })

  const signIn = async (node: number, email: string, guess: string) =>
    (await nodes[node % 2]!.as(undefined).post('/api/login/', { email, password: guess })).status
  const times = (count: number) => Array.from({ length: count }, (_, n) => n)

  it('are refused after five wrong passwords, whichever node was asked', async () => {
    const statuses: number[] = []
    for (const n of times(8)) statuses.push(await signIn(n, 'Nobody@example.com', `wrong ${n}`))
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
    const atOnce = await Promise.all(times(24).map(n => signIn(n, 'nobody-else@example.com', `wrong ${n}`)))
    expect(atOnce.filter(status => status === 401)).toHaveLength(5)
    expect(atOnce.filter(status => status === 429)).toHaveLength(19)
  })

  it('with the right password are never refused because of each other, and start anew', async () => {
    for (const n of times(4)) expect(await signIn(n, 'ann@example.com', 'wrong')).toBe(401)
    expect(await Promise.all(times(12).map(n => signIn(n, 'ann@example.com', password)))).toEqual(Array(12).fill(200))
    const statuses: number[] = []
    for (const n of times(6)) statuses.push(await signIn(n, 'ann@example.com', 'wrong'))
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    expect(await signIn(1, 'ann@example.com', password)).toBe(429)
    expect(await signIn(1, 'bob@example.com', password)).toBe(200)
  })

  it('are counted for five minutes, for fifty accounts from one address, and not when nobody could look', async () => {
    let time = '2030-01-01T10:00:00.000000Z' as Instant
    let steady = 0
    const pass = (milliseconds: number) => {
      time = plusMilliseconds(time, milliseconds)
      steady += milliseconds
    }
    const throttles = nodes.map(({ halyard }) =>
      createLoginThrottle({ database: halyard.database, now: () => time, steady: () => steady }),
    )
    const isLet = (n: number, email: string, address: string) =>
      throttles[n % 2]!.guess(email, address, async () => undefined).then(
        () => true,
        error => error.kind !== 'throttled',
      )
    const letIn = async (count: number, email: (n: number) => string, address: string) => {
      const outcomes: boolean[] = []
      for (const n of times(count)) outcomes.push(await isLet(n, email(n), address))
      return outcomes.filter(Boolean).length
    }
    for (const n of times(9)) {
      const failing = throttles[n % 2]!.guess('c@example.com', 'there', () => Promise.reject(new Error('away')))
      await expect(failing).rejects.toThrow('away')
    }
    expect(await letIn(7, () => 'c@example.com', 'there')).toBe(5)
    pass(4 * minute)
    expect(await letIn(2, () => 'c@example.com', 'there')).toBe(0)
    pass(minute)
    expect(await letIn(7, () => 'c@example.com', 'there')).toBe(5)
    expect(await letIn(60, n => `${n}@example.com`, 'here')).toBe(50)

    await nodes[0]!.halyard.jobs.runDue(plusMilliseconds(time, 10 * minute))
    const left = await nodes[0]!.halyard.storage.kysely.selectFrom('sign_in_failures').select('key').execute()
    expect(left).toEqual([])
    expect(instantOf(new Date()) < time).toBe(true)
  })
})
