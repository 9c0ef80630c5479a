import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { createTestDatabase, freeLeases, onEachDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { type SmtpServer, startSmtpServer } from '../../../testing/smtp-server.ts'

const minute = 60_000
const password = 'correct horse battery'
const newPassword = 'a brand new password'

onEachDatabase('password reset', dialect => {
  let smtp: SmtpServer
  let database: TestDatabase
  let plain: Scenario
  let nodes: readonly Scenario[]
  beforeAll(async () => {
    smtp = await startSmtpServer()
    database = await createTestDatabase(dialect)
    const secret = { HALYARD_SECRET_KEY: 'the same on all nodes', TRUST_PROXY: '1' }
    // Invitations without a mail server: these addresses are not verified.
    plain = await startScenario(dialect, { databaseUrl: database.url, environment: secret })
    const environment = {
      ...secret,
      HALYARD_SMTP_URL: smtp.url,
      HALYARD_PUBLIC_URL: 'https://flags.example.com',
    }
    nodes = [
      await startScenario(dialect, { databaseUrl: database.url, environment }),
      await startScenario(dialect, { databaseUrl: database.url, environment }),
    ]
  }, 120_000)
  afterAll(async () => {
    for (const node of [plain, ...(nodes ?? [])]) await node?.close()
    await database?.drop()
    smtp?.close()
  })

  let addresses = 0
  const request = (email: string, address = `192.0.2.${addresses++}`) =>
    nodes[0]!.as(undefined).post('/api/password_reset/', { email }, { 'x-forwarded-for': address })
  const complete = (token: string, chosen = newPassword, node = nodes[1]!) =>
    node.as(undefined).post('/api/password_reset/complete/', { token, password: chosen })
  const queued = () => nodes[0]!.halyard.storage.kysely.selectFrom('emails').selectAll().execute()
  const stored = () => nodes[0]!.halyard.storage.kysely.selectFrom('account_tokens').selectAll().execute()
  /** The token of the link that was emailed to an address. */
  const emailed = async (email: string): Promise<string> => {
    await expect.poll(queued).toHaveLength(1)
    smtp.received.length = 0
    await freeLeases(nodes[0]!.halyard.storage)
    await nodes[0]!.halyard.jobs.runDue(instantOf(new Date(Date.now() + minute)))
    expect(smtp.received.map(({ to }) => to)).toEqual([[email]])
    return /https:\/\/flags\.example\.com\/reset-password#(\w{43})/.exec(smtp.received[0]?.text ?? '')?.[1] ?? ''
  }
  const signIn = async (email: string, guess: string) =>
    (await nodes[1]!.as(undefined).post('/api/login/', { email, password: guess })).status
  const verify = (email: string) =>
    nodes[0]!.halyard.storage.kysely
      .updateTable('users')
      .set({ is_email_verified: 1 })
      .where('email', '=', email)
      .execute()

  it('sets a password once with the emailed link, on any node, and ends every sign-in but no API key', async () => {
    const ann = await plain.join('ann')
    await verify(ann.email)
    const key = (await ann.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] })).body.value
    expect((await request('Ann@Example.com ')).status).toBe(202)
    const token = await emailed(ann.email)
    expect(JSON.stringify(await stored())).not.toContain(token)
    expect((await complete(token, 'short')).body).toMatchObject({ attr: 'password' })
    const both = await Promise.all([complete(token), complete(token, newPassword, nodes[0])])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404])
    expect((await complete(token)).status).toBe(404)
    expect((await ann.get('/api/users/@me/')).status).toBe(401)
    expect((await nodes[0]!.as(key).get('/api/users/@me/')).status).toBe(200)
    expect([await signIn(ann.email, password), await signIn(ann.email, newPassword)]).toEqual([401, 200])
  })

  it('responds alike for addresses without an account, for idle ones and malformed ones, and sends nothing', async () => {
    const ben = await plain.join('ben')
    await nodes[0]!.halyard.storage.kysely
      .updateTable('users')
      .set({ is_active: 0 })
      .where('email', '=', ben.email)
      .execute()
    const bodies: string[] = []
    for (const email of ['unknown@example.com', ben.email, 'not an address', "' or 1=1 --"]) {
      const { status, text } = await request(email)
      bodies.push(`${status} ${text}`)
    }
    expect(new Set(bodies)).toEqual(new Set(['202 ']))
    // A request that sends an email comes after them.
    await plain.join('cyd')
    await request('cyd@example.com')
    await emailed('cyd@example.com')
  })

  it('is refused after 30 minutes, and when a newer link was requested', async () => {
    const dan = await plain.join('dan')
    await request(dan.email)
    const first = await emailed(dan.email)
    await request(dan.email)
    const second = await emailed(dan.email)
    expect((await complete(first)).status).toBe(404)
    await nodes[0]!.halyard.storage.kysely
      .updateTable('account_tokens')
      .set({ expires_at: instantOf(new Date(Date.now() - 1)) })
      .where('user_id', '=', dan.id)
      .execute()
    expect((await complete(second)).status).toBe(404)
    expect(await signIn(dan.email, password)).toBe(200)
  })

  it('proves the address that the link was sent to, and no other one', async () => {
    const fay = await plain.join('fay')
    await request(fay.email)
    const token = await emailed(fay.email)
    const email = 'colleague@example.com'
    const changed = await fay.patch('/api/users/@me/', { email, current_password: password })
    expect(changed.body).toMatchObject({ email, is_email_verified: false })
    expect((await complete(token)).status).toBe(404)
    expect((await fay.get('/api/users/@me/')).body.is_email_verified).toBe(false)
    expect(await signIn(email, password)).toBe(200)
  })

  it('removes API keys and factors of an address that no one had verified', async () => {
    const eve = await plain.join('eve')
    expect((await eve.get('/api/users/@me/')).body.is_email_verified).toBe(false)
    const key = (await eve.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] })).body.value
    await request(eve.email)
    expect((await complete(await emailed(eve.email))).status).toBe(204)
    expect((await nodes[0]!.as(key).get('/api/users/@me/')).status).toBe(401)
    const session = await nodes[0]!.as(undefined).post('/api/login/', { email: eve.email, password: newPassword })
    expect(session.body.user.is_email_verified).toBe(true)
  })

  it('is throttled by account and by address, for unknown accounts as for others', async () => {
    const perAccount: number[] = []
    for (let n = 0; n < 5; n++) perAccount.push((await request('missing@example.com')).status)
    expect(perAccount).toEqual([202, 202, 202, 429, 429])
    const perAddress: number[] = []
    for (let n = 0; n < 25; n++) perAddress.push((await request(`u${n}@example.com`, '198.51.100.1')).status)
    expect(perAddress.filter(status => status === 202)).toHaveLength(20)
    const guesses: number[] = []
    for (let n = 0; n < 3; n++) guesses.push((await complete('A'.repeat(42) + n)).status)
    expect(guesses).toEqual([404, 404, 404])
  })

  it('says what to do where no mail server is configured', async () => {
    expect((await plain.as(undefined).get('/api/password_reset/')).body).toEqual({ by_email: false })
    expect((await nodes[0]!.as(undefined).get('/api/password_reset/')).body).toEqual({ by_email: true })
    const reply = await plain.as(undefined).post('/api/password_reset/', { email: 'ann@example.com' })
    expect([reply.status, reply.body.code]).toEqual([400, 'email_not_configured'])
  })
})
