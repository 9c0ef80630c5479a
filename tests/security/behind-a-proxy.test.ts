import { afterEach, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** So many wrong passwords may come from one address; see docs/operate/limits.md. */
const triesMax = 50

let s: Scenario | undefined
afterEach(() => s?.close())

let accounts = 0
/** Each for an account of its own, so that only the address can be what is counted. */
const signIn = async (forwardedFor?: string) => {
  const email = `guess-${++accounts}@example.com`
  const headers: Record<string, string> = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return (await s!.as(undefined).post('/api/login/', { email, password: 'wrong wrong wrong' }, headers)).status
}
const many = async (forwardedFor: (n: number) => string): Promise<Set<number>> =>
  new Set(await Promise.all(Array.from({ length: triesMax }, (_, n) => signIn(forwardedFor(n)))))

it('behind a proxy that is believed, the client is counted, not the proxy, and cannot claim to be another', async () => {
  s = await startScenario('sqlite', { environment: { TRUST_PROXY: '1' } })
  // What a client claims stands in front of what the proxy has seen.
  expect(await many(n => `192.0.2.${n}, 203.0.113.7`)).toEqual(new Set([401]))
  expect(await signIn('203.0.113.7')).toBe(429)
  expect(await signIn('198.51.100.1, 203.0.113.7')).toBe(429)
  // Its neighbours come through the same proxy, and are let try.
  expect(await signIn('203.0.113.8')).toBe(401)
  expect(await signIn('203.0.113.7, 203.0.113.9')).toBe(401)
}, 240_000)

it('without a proxy that is believed, nobody escapes by claiming other addresses', async () => {
  s = await startScenario('sqlite')
  expect(await many(n => `203.0.113.${n}`)).toEqual(new Set([401]))
  expect(await signIn('203.0.113.200')).toBe(429)
  expect(await signIn()).toBe(429)
}, 240_000)
