import { allRoutes } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLoginThrottle } from '../../packages/server/src/features/identity/sign-in/login-throttle.ts'
import { instantOf } from '../../packages/server/src/instant.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** Wrong passwords from one address until it is blocked; see docs/operate/limits.md. */
const triesMax = 50

let trusting: Scenario
let direct: Scenario
beforeAll(async () => {
  trusting = await startScenario('sqlite', { environment: { TRUST_PROXY: '1' } })
  direct = await startScenario('sqlite')
  for (const s of [trusting, direct]) {
    for (const key of ['first', 'second']) await s.post(`${s.project}/feature_flags/`, { key })
  }
})
afterAll(async () => {
  await trusting.close()
  await direct.close()
})

describe('the address of a client', () => {
  let accounts = 0
  /** Each for another account, so that only the address is counted. */
  const signIn = async (s: Scenario, forwardedFor?: string) => {
    const email = `guess-${++accounts}@example.com`
    const headers: Record<string, string> = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    return (await s.as(undefined).post('/api/login/', { email, password: 'wrong wrong wrong' }, headers)).status
  }
  /** All but a few of the wrong passwords, as another node would count them: without deriving a key for each. */
  async function countElsewhere(s: Scenario, address: string, left: number): Promise<void> {
    const throttle = createLoginThrottle({ database: s.halyard.database, now: () => instantOf(new Date()) })
    for (let n = 0; n < triesMax - left; n++) {
      expect(await throttle.guess(`elsewhere-${n}@example.com`, address, async () => undefined)).toBeUndefined()
    }
  }

  it('behind a trusted proxy is what the proxy has seen, whatever the client claims', async () => {
    await countElsewhere(trusting, '203.0.113.7', 2)
    // What a client claims comes before what the proxy has seen.
    expect(await signIn(trusting, '192.0.2.1, 203.0.113.7')).toBe(401)
    expect(await signIn(trusting, '192.0.2.2, 203.0.113.7')).toBe(401)
    expect(await signIn(trusting, '203.0.113.7')).toBe(429)
    expect(await signIn(trusting, '198.51.100.1, 203.0.113.7')).toBe(429)
    // Other clients of the same proxy are not blocked.
    expect(await signIn(trusting, '203.0.113.8')).toBe(401)
    expect(await signIn(trusting, '203.0.113.7, 203.0.113.9')).toBe(401)
  }, 60_000)

  it('without a trusted proxy is that of the connection', async () => {
    await countElsewhere(direct, '127.0.0.1', 2)
    expect(await signIn(direct, '203.0.113.1')).toBe(401)
    expect(await signIn(direct, '203.0.113.2')).toBe(401)
    expect(await signIn(direct, '203.0.113.200')).toBe(429)
    expect(await signIn(direct)).toBe(429)
  }, 60_000)
})

describe('links', () => {
  const nextOf = async (s: Scenario, headers: Record<string, string>) => {
    const reply = await s.get(`${s.project}/feature_flags/?limit=1`, headers)
    expect(reply.status).toBe(200)
    return new URL(reply.body.next)
  }
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'flags.example.com' }

  it('behind a trusted proxy have the scheme and host that the client used', async () => {
    expect((await nextOf(trusting, forwarded)).origin).toBe('https://flags.example.com')
    expect((await nextOf(trusting, {})).origin).toBe(trusting.url)
  })

  it('without a trusted proxy ignore what a request claims', async () => {
    expect((await nextOf(direct, forwarded)).origin).toBe(direct.url)
  })

  it.each([
    'flags.example.com/path?x=',
    'user:password@flags.example.com',
    'flags example com',
    'flags.example.com, second.example.com',
    '[::1',
    '<script>',
    'x'.repeat(5000),
  ])('stay on the path of the request with the forwarded host %j', async host => {
    const { pathname, searchParams } = await nextOf(trusting, { ...forwarded, 'x-forwarded-host': host })
    expect([pathname, searchParams.get('offset')]).toEqual([`${trusting.project}/feature_flags/`, '1'])
  })

  it.each(['javascript', 'https, http', 'ftp', 'https:\\\\evil.example'])(
    'stay links of the web with the forwarded scheme %j',
    async scheme => {
      const { protocol, pathname } = await nextOf(trusting, { ...forwarded, 'x-forwarded-proto': scheme })
      expect(['http:', 'https:']).toContain(protocol)
      expect(pathname).toBe(`${trusting.project}/feature_flags/`)
    },
  )

  it('with a secret in them name no host, so that a forged one cannot collect it', async () => {
    const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    for (const s of [trusting, direct]) {
      const target_email = `invited-${Math.random()}@example.com`
      const { body, text } = await s.post(`${s.organization}/invites/`, { target_email }, forged)
      expect(body.signup_path).toBe(`/signup/${body.token}`)
      expect(text).not.toContain('evil.example')
    }
  })
})

it('no response sets a cookie: there is none that would need flags', async () => {
  const { email, password } = direct.halyard.firstOwner!
  const replies = [
    await trusting.as(undefined).post('/api/login/', { email, password }, { 'x-forwarded-for': '192.0.2.77' }),
    await trusting.get('/login', { accept: 'text/html' }),
    await trusting.as(undefined).post('/flags/?v=2', { token: trusting.projectToken, distinct_id: 'x' }),
  ]
  for (const route of allRoutes) {
    if (route.method !== 'GET' || route.mediaType === 'text/event-stream') continue
    replies.push(await trusting.get(`${route.path.replace(/:\w+/g, '@current')}/`))
  }
  expect(replies.length).toBeGreaterThan(50)
  for (const { headers } of replies) expect(headers.get('set-cookie')).toBeNull()
})
