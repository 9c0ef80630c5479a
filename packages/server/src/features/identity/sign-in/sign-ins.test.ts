import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { originOf } from '../../../origin.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { resumeSession } from './open-session.ts'

const credentials = { email: 'owner@example.com', password: 'owner-password-1' }

onEachDatabase('sign-ins', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect, {
      environment: { HALYARD_OWNER_EMAIL: credentials.email, HALYARD_OWNER_PASSWORD: credentials.password },
    })
  })
  afterAll(() => s.close())

  const signIn = async (remember: boolean, agent = 'Firefox') => {
    const reply = await s.as(undefined).post('/api/login/', { ...credentials, remember }, { 'user-agent': agent })
    expect(reply.status).toBe(200)
    return { client: s.as(reply.body.api_key), cookie: reply.headers.get('set-cookie') }
  }
  const resume = (cookie: string, headers: Record<string, string> = {}) =>
    s.as(undefined).post('/api/session/resume/', undefined, { cookie: cookie.split(';')[0] ?? '', ...headers })

  it('sets a cookie that scripts cannot read only for those who stay signed in', async () => {
    expect((await signIn(false)).cookie).toBeNull()
    const { cookie } = await signIn(true)
    expect(cookie).toMatch(/^halyard_refresh=[0-9A-Za-z]{43}; Path=\/api\/session\/resume; HttpOnly; SameSite=Strict/)
    expect(cookie).toContain('Max-Age=2592000')
  })

  it('exchanges the cookie for a new key, which is worthless as a credential elsewhere', async () => {
    const { cookie } = await signIn(true)
    const { status, body } = await resume(cookie ?? '')
    expect(status).toBe(200)
    expect((await s.as(body.api_key).get('/api/users/@me/')).body.email).toBe(credentials.email)
    const withCookie = await s.as(undefined).get('/api/users/@me/', { cookie: cookie ?? '' })
    expect(withCookie.status).toBe(401)
    const secret = /=([^;]+)/.exec(cookie ?? '')?.[1]
    expect((await s.as(secret).get('/api/users/@me/')).status).toBe(401)
  })

  it('rejects requests that another site has caused, and unknown cookies', async () => {
    const { cookie } = await signIn(true)
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      expect((await resume(cookie ?? '', headers as Record<string, string>)).status).toBe(403)
    }
    expect((await resume(cookie ?? '', { 'sec-fetch-site': 'same-origin', origin: s.url })).status).toBe(200)
    expect((await resume(`halyard_refresh=${'x'.repeat(43)}`)).status).toBe(401)
    expect((await resume('halyard_refresh=')).status).toBe(401)
  })

  it('lists the browsers of the caller, and revokes one with its keys and its cookie', async () => {
    const mine = await signIn(false, 'Mine')
    const lost = await signIn(true, 'Lost')
    const { body } = await mine.client.get('/api/users/@me/sign_ins/')
    const found = body.find((each: { user_agent: string }) => each.user_agent === 'Lost')
    expect(found).toMatchObject({ is_remembered: true, is_current: false })
    expect(body.find((each: { is_current: boolean }) => each.is_current)).toMatchObject({ user_agent: 'Mine' })
    const other = await s.join('other')
    expect((await other.delete(`/api/users/@me/sign_ins/${found.id}/`)).status).toBe(404)
    expect((await mine.client.delete(`/api/users/@me/sign_ins/${found.id}/`)).status).toBe(204)
    expect((await lost.client.get('/api/users/@me/')).status).toBe(401)
    expect((await resume(lost.cookie ?? '')).status).toBe(401)
    expect((await mine.client.get('/api/users/@me/')).status).toBe(200)
    expect((await mine.client.delete(`/api/users/@me/sign_ins/${found.id}/`)).status).toBe(404)
  })

  it('signs out the browser that stays signed in, and clears its cookie', async () => {
    const { client, cookie } = await signIn(true)
    const { status, headers } = await client.post('/api/logout/')
    expect(status).toBe(204)
    expect(headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await resume(cookie ?? '')).status).toBe(401)
  })

  it('ends all sign-ins when the password changes, and one that has expired', async () => {
    const { client, cookie } = await signIn(true)
    const token = /=([^;]+)/.exec(cookie ?? '')?.[1] ?? ''
    const later = instantOf(new Date(Date.now() + 31 * 24 * 60 * 60 * 1000))
    expect(
      await s.halyard.database.transaction(tx => resumeSession(tx, token, originOf('test'), later)),
    ).toBeUndefined()
    const changed = { password: 'another-password-1', current_password: credentials.password }
    expect((await client.patch('/api/users/@me/', changed)).status).toBe(200)
    expect((await resume(cookie ?? '')).status).toBe(401)
  })
})
