import { afterEach, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** Wrong passwords from one address until it is blocked; see docs/operate/limits.md. */
const triesMax = 50

let s: Scenario | undefined
afterEach(() => s?.close())

let accounts = 0
/** Each for another account, so that only the address is counted. */
const signIn = async (forwardedFor?: string) => {
  const email = `guess-${++accounts}@example.com`
  const headers: Record<string, string> = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return (await s!.as(undefined).post('/api/login/', { email, password: 'wrong wrong wrong' }, headers)).status
}
/** A few at once: a process derives two keys at a time and refuses what would wait too long. */
const atOnce = 5
const many = async (forwardedFor: (n: number) => string): Promise<Set<number>> => {
  const statuses = new Set<number>()
  for (let from = 0; from < triesMax; from += atOnce) {
    const batch = Array.from({ length: atOnce }, (_, n) => signIn(forwardedFor(from + n)))
    for (const status of await Promise.all(batch)) statuses.add(status)
  }
  return statuses
}

it('behind a trusted proxy, failures count for the client, which cannot claim another address', async () => {
  s = await startScenario('sqlite', { environment: { TRUST_PROXY: '1' } })
  // What a client claims comes before what the proxy has seen.
  expect(await many(n => `192.0.2.${n}, 203.0.113.7`)).toEqual(new Set([401]))
  expect(await signIn('203.0.113.7')).toBe(429)
  expect(await signIn('198.51.100.1, 203.0.113.7')).toBe(429)
  // Other clients of the same proxy are not blocked.
  expect(await signIn('203.0.113.8')).toBe(401)
  expect(await signIn('203.0.113.7, 203.0.113.9')).toBe(401)
}, 240_000)

it('without a trusted proxy, claimed addresses are ignored', async () => {
  s = await startScenario('sqlite')
  expect(await many(n => `203.0.113.${n}`)).toEqual(new Set([401]))
  expect(await signIn('203.0.113.200')).toBe(429)
  expect(await signIn()).toBe(429)
}, 240_000)
