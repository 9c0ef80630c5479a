import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { createLoginThrottle } from './login-throttle.ts'

const minute = 60_000
const day = 24 * 60 * minute
const password = 'correct horse battery'
const times = (count: number) => Array.from({ length: count }, (_, n) => n)

onEachDatabase('sign-ins on two nodes', dialect => {
  let nodes: readonly Scenario[]
  beforeAll(async () => {
    const options = { environment: { TRUST_PROXY: '1' } }
    const one = await startScenario(dialect, options)
    nodes = [one, await one.startAnother(options)]
    for (const name of ['ann', 'bob', 'cyd', 'dan']) await one.join(name)
  }, 120_000)
  afterAll(() => nodes[0]?.close())

  const signIn = async (node: number, email: string, guess: string, address = '192.0.2.1') =>
    (
      await nodes[node % 2]!.as(undefined).post(
        '/api/login/',
        { email, password: guess },
        { 'x-forwarded-for': address },
      )
    ).status

  it('are refused after five wrong passwords from one address, whichever node receives them', async () => {
    const statuses: number[] = []
    for (const n of times(8)) statuses.push(await signIn(n, 'Unknown@example.com', `wrong ${n}`))
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
    const atOnce = await Promise.all(times(24).map(n => signIn(n, 'unknown-too@example.com', `wrong ${n}`)))
    expect(atOnce.filter(status => status === 401)).toHaveLength(5)
    expect(atOnce.filter(status => status === 429)).toHaveLength(19)
  }, 120_000)

  it('with the right password never block each other, and reset the count', async () => {
    for (const n of times(4)) expect(await signIn(n, 'ann@example.com', 'wrong')).toBe(401)
    expect(await Promise.all(times(12).map(n => signIn(n, 'ann@example.com', password)))).toEqual(Array(12).fill(200))
    const statuses: number[] = []
    for (const n of times(6)) statuses.push(await signIn(n, 'ann@example.com', 'wrong'))
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    expect(await signIn(1, 'ann@example.com', password)).toBe(429)
    expect(await signIn(1, 'bob@example.com', password)).toBe(200)
  }, 120_000)

  it("are not blocked by a stranger's wrong passwords from another address", async () => {
    expect(await signIn(0, 'cyd@example.com', password, '192.0.2.3')).toBe(200)
    const stranger = '198.51.100.9'
    for (const n of times(5)) expect(await signIn(n, 'cyd@example.com', `wrong ${n}`, stranger)).toBe(401)
    expect(await signIn(0, 'cyd@example.com', password, stranger)).toBe(429)
    for (const n of times(2)) expect(await signIn(n, 'cyd@example.com', password, '192.0.2.3')).toBe(200)
  }, 120_000)

  it('share their limit with checks of the current password', async () => {
    const [node] = nodes as [Scenario]
    const session = await node.as(undefined).post('/api/login/', { email: 'dan@example.com', password })
    const dan = node.as(session.body.api_key)
    const address = { 'x-forwarded-for': '192.0.2.4' }
    const change = (guess: string) =>
      dan.patch('/api/users/@me/', { password: 'another password', current_password: guess }, address)
    const statuses = (await Promise.all(times(9).map(n => change(`wrong ${n}`)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([400, 400, 400, 400, 400, 429, 429, 429, 429])
    const right = await change(password)
    expect(right.status).toBe(429)
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await signIn(1, 'dan@example.com', password, '192.0.2.4')).toBe(429)
    expect(await signIn(1, 'dan@example.com', password, '192.0.2.5')).toBe(200)
  }, 120_000)

  /** Throttles of both nodes under one clock, with guesses that cost no key derivation. */
  function throttlesUnderClock() {
    let time = '2030-01-01T10:00:00.000000Z' as Instant
    let monotonic = 0
    const throttles = nodes.map(({ halyard }) =>
      createLoginThrottle({ database: halyard.database, now: () => time, monotonic: () => monotonic }),
    )
    const guess = (n: number, email: string, address: string, isRight: boolean) =>
      throttles[n % 2]!.guess(email, address, async () => (isRight ? true : undefined)).then(
        found => (found ? 'right' : 'wrong'),
        error => error.kind as string,
      )
    return {
      throttles,
      guess,
      now: () => time,
      pass(milliseconds: number) {
        time = plusMilliseconds(time, milliseconds)
        monotonic += milliseconds
      },
      async countWrong(count: number, email: (n: number) => string, address: (n: number) => string) {
        const outcomes: string[] = []
        for (const n of times(count)) outcomes.push(await guess(n, email(n), address(n), false))
        return outcomes.filter(outcome => outcome === 'wrong').length
      },
    }
  }

  it('are counted for five minutes, for fifty accounts from one address, and not when the check failed', async () => {
    const { throttles, countWrong, pass, now } = throttlesUnderClock()
    for (const n of times(9)) {
      const failing = throttles[n % 2]!.guess('c@example.com', 'there', () => Promise.reject(new Error('away')))
      await expect(failing).rejects.toThrow('away')
    }
    const there = (count: number) =>
      countWrong(
        count,
        () => 'c@example.com',
        () => 'there',
      )
    expect(await there(7)).toBe(5)
    pass(4 * minute)
    expect(await there(2)).toBe(0)
    pass(minute)
    expect(await there(7)).toBe(5)
    const fromHere = await countWrong(
      60,
      n => `${n}@example.com`,
      () => 'here',
    )
    expect(fromHere).toBe(50)

    await nodes[0]!.halyard.jobs.runDue(plusMilliseconds(now(), 10 * minute))
    const left = await nodes[0]!.halyard.storage.kysely.selectFrom('sign_in_failures').select('key').execute()
    expect(left).toEqual([])
    expect(instantOf(new Date()) < now()).toBe(true)
  }, 60_000)

  it('are counted together by nodes whose clocks differ', async () => {
    const clocks = ['2030-01-02T10:00:00.000000Z', '2030-01-02T10:00:01.000000Z'] as Instant[]
    const throttles = clocks.map((time, n) =>
      createLoginThrottle({ database: nodes[n]!.halyard.database, now: () => time, monotonic: () => 0 }),
    )
    const outcomes: string[] = []
    for (const n of times(9)) {
      const guess = throttles[(n + 1) % 2]!.guess('skewed@example.com', 'skewed', async () => undefined)
      outcomes.push(
        await guess.then(
          () => 'wrong',
          error => error.kind,
        ),
      )
    }
    expect(outcomes.filter(outcome => outcome === 'wrong')).toHaveLength(5)
  })

  it('from a known place go on while an account is guessed from everywhere; new places wait', async () => {
    const { guess, countWrong, pass, now } = throttlesUnderClock()
    const email = 'known@example.com'
    expect(await guess(0, email, 'home', true)).toBe('right')
    const attack = () =>
      countWrong(
        80,
        () => email,
        n => `attacker ${n}`,
      )
    expect(await attack()).toBe(50)
    for (const n of times(2)) {
      expect(await guess(n, email, 'home', true)).toBe('right')
      expect(await guess(n, email, 'new place', true)).toBe('throttled')
    }
    // Wrong passwords from the known place itself count there.
    const atHome = await countWrong(
      7,
      () => email,
      () => 'home',
    )
    expect(atHome).toBe(5)
    expect(await guess(0, email, 'home', true)).toBe('throttled')
    pass(5 * minute)
    expect(await guess(1, email, 'new place', true)).toBe('right')

    // After thirty days without a sign-in the place is no longer known.
    pass(31 * day)
    expect(await attack()).toBe(50)
    expect(await guess(0, email, 'home', true)).toBe('throttled')
    await nodes[0]!.halyard.jobs.runDue(now())
    const known = await nodes[0]!.halyard.storage.kysely.selectFrom('known_sign_ins').select('last_at').execute()
    expect(known.every(({ last_at }) => last_at > plusMilliseconds(now(), -30 * day))).toBe(true)
  }, 60_000)
})
