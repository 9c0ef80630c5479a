import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { instantOf } from '../../instant.ts'
import { freeLeases, onEachDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { type SmtpServer, startSmtpServer } from '../../testing/smtp-server.ts'
import { attemptsMax, nextAttemptAt } from './email.ts'

const publicUrl = 'https://flags.example.com'

onEachDatabase('emails', dialect => {
  const injector = createFaultInjector()
  let smtp: SmtpServer
  let s: Scenario
  let other: Scenario
  let ann: Awaited<ReturnType<typeof join>>
  beforeAll(async () => {
    smtp = await startSmtpServer()
    const environment = {
      HALYARD_SMTP_URL: smtp.url,
      HALYARD_PUBLIC_URL: publicUrl,
      HALYARD_SECRET_KEY: 'the same on all nodes',
    }
    s = await startScenario(dialect, { storage: injector, environment })
    other = await s.startAnother({ environment })
    ann = await join('ann')
  })
  afterAll(async () => {
    await s?.close()
    smtp?.close()
  })
  beforeEach(() => {
    smtp.received.length = 0
    smtp.replyTo = () => '250 OK'
  })

  const at = (seconds: number) => instantOf(new Date(Date.now() + seconds * 1000))
  const run = async (seconds: number) => {
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(at(seconds))
  }
  const invite = (name: string) =>
    s.post(`${s.organization}/invites/`, { target_email: `${name}@example.com` }).then(({ body }) => body)
  /** Follows the link of the email. */
  const join = async (name: string, level = 1) => {
    const email = `${name}@example.com`
    await s.post(`${s.organization}/invites/`, { target_email: email, level })
    await run(0)
    const token = /\/signup\/(\w+)/.exec(smtp.received.find(({ to }) => to.includes(email))?.text ?? '')?.[1]
    const person = { first_name: name, password: 'correct horse battery' }
    const { body } = await s.as(undefined).post(`/api/signup/${token}/`, person)
    return { ...s.as(body.api_key), id: body.user.id as number, email, user: body.user }
  }
  const subjects = () => smtp.received.map(({ to, headers }) => [to.join(), headers.subject])

  it('bring invitations once; their tokens are neither in the response nor readable in the database', async () => {
    expect(await invite('new')).toMatchObject({ target_email: 'new@example.com', token: null, signup_path: null })
    const rows = await s.halyard.storage.kysely.selectFrom('emails').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(smtp.received).toEqual([])
    await freeLeases(s.halyard.storage)
    await Promise.all([s.halyard.jobs.runDue(at(1)), other.halyard.jobs.runDue(at(1))])
    await run(2)
    expect(smtp.received).toHaveLength(1)
    const { to, headers, text } = smtp.received[0]!
    expect(to).toEqual(['new@example.com'])
    expect(headers).toMatchObject({
      from: 'halyard@flags.example.com',
      subject: expect.stringContaining('invites you to'),
      'auto-submitted': 'auto-generated',
    })
    const [, token = ''] = /https:\/\/flags\.example\.com\/signup\/(\w{43})\n/.exec(text) ?? []
    expect(token).not.toBe('')
    expect(JSON.stringify(rows)).not.toContain(token)
    // Following the link is what verifies the address.
    expect(ann.user.is_email_verified).toBe(true)
    expect(await s.halyard.storage.kysely.selectFrom('emails').selectAll().execute()).toEqual([])
  })

  it('lead approvers to requests, requesters to outcomes and admins to emergencies', async () => {
    const admin = await join('admin', 8)
    const { body: project } = await s.post('/api/projects/', { name: 'Shop' })
    const path = `/api/projects/${project.id}`
    const flag = (await s.post(`${path}/feature_flags/`, { key: 'mailed' })).body
    const policy = { action_key: '*', approver_config: { users: [ann.id] } }
    await s.post(`${path}/approval_policies/`, policy)
    await run(3)
    smtp.received.length = 0
    const change = (name: string, headers: Record<string, string>) =>
      s.patch(`${path}/feature_flags/${flag.id}/`, { name }, headers)
    const { body: first } = await change('one', { 'x-halyard-note': encodeURIComponent('Für die Messe') })
    await run(4)
    expect(subjects()).toEqual([['ann@example.com', '[Shop] Approval requested: Update mailed']])
    expect(smtp.received[0]?.text).toContain('Reason:\n> Für die Messe')
    expect(smtp.received[0]?.text).toContain(`${publicUrl}/project/${project.id}/requests/${first.change_request_id}`)

    // A note cannot pass for the email's own link or for its end.
    const forged = 'Fine.\r\n\r\nhttps://evil.example/approve\r\n-- \r\nHalyard'
    smtp.received.length = 0
    const { body: hostile } = await change('forged', { 'x-halyard-note': encodeURIComponent(forged) })
    await run(4)
    const [, afterLink] = smtp.received[0]!.text.split(`/requests/${hostile.change_request_id}`)
    expect(smtp.received[0]?.text.split('evil.example')).toHaveLength(2)
    expect(afterLink).toMatch(
      /^\s*Change:\n> [^\n]+\n\nReason:\n> Fine\. https:\/\/evil\.example\/approve -- {2}Halyard\n\n-- \nTurn off/,
    )
    await s.post(`${path}/change_requests/${hostile.change_request_id}/cancel/`)

    smtp.received.length = 0
    await ann.post(`${path}/change_requests/${first.change_request_id}/approve/`)
    const { body: second } = await change('two', {})
    await ann.post(`${path}/change_requests/${second.change_request_id}/reject/`, { reason: 'Not now.' })
    await run(5)
    expect(subjects().filter(([to]) => to === 'owner@halyard.local')).toEqual([
      ['owner@halyard.local', '[Shop] Change applied: Update mailed'],
      ['owner@halyard.local', '[Shop] Change rejected: Update mailed'],
    ])
    expect(smtp.received.at(-1)?.text).toContain('Reason:\n> Not now.')

    smtp.received.length = 0
    await change('three', { 'x-halyard-emergency': 'Checkout is down' })
    await run(6)
    expect(subjects()).toEqual([[admin.email, '[Shop] Emergency change to review: Update mailed']])
  })

  it('are in the language of each person, and not sent to those who turned them off', async () => {
    const [ben, cleo] = [await join('ben'), await join('cleo')]
    await run(7)
    const { body: project } = await s.post('/api/projects/', { name: 'Laden' })
    const path = `/api/projects/${project.id}`
    const flag = (await s.post(`${path}/feature_flags/`, { key: 'mailed' })).body
    const policy = { action_key: '*', approver_config: { users: [ann.id, ben.id, cleo.id], quorum: 2 } }
    await s.post(`${path}/approval_policies/`, policy)
    expect((await ann.get('/api/users/@me/')).body).toMatchObject({ change_request_emails: true, language: null })
    expect((await ben.patch('/api/users/@me/', { language: 'fr' })).body).toMatchObject({ attr: 'language' })
    expect((await ben.patch('/api/users/@me/', { language: 'de' })).body.language).toBe('de')
    await cleo.patch('/api/users/@me/', { change_request_emails: false })
    const send = async (name: string, seconds: number) => {
      smtp.received.length = 0
      await s.patch(`${path}/feature_flags/${flag.id}/`, { name }, { 'x-halyard-note': 'Sale' })
      await run(seconds)
    }
    await send('one', 8)
    expect(subjects()).toEqual([
      [ann.email, '[Laden] Approval requested: Update mailed'],
      [ben.email, '[Laden] Freigabe angefordert: Update mailed'],
    ])
    const [english, german] = smtp.received
    expect(english?.text).toContain(`Turn off emails about change requests: ${publicUrl}/account`)
    expect(german?.text).toContain(`Von owner@halyard.local`)
    expect(german?.text).toContain('Grund:\n> Sale')
    expect(german?.text).toContain(`Nachrichten zu Anträgen abschalten: ${publicUrl}/account`)
    await cleo.patch('/api/users/@me/', { change_request_emails: true })
    await ann.patch('/api/users/@me/', { change_request_emails: false })
    await send('two', 9)
    expect(smtp.received.map(({ to }) => to.join())).toEqual([ben.email, cleo.email])
    await ann.patch('/api/users/@me/', { change_request_emails: true })
  })

  it('are sent again when the server refuses them or the node ends in between, with the same id', async () => {
    smtp.replyTo = () => '451 later'
    await invite('retried')
    await run(10)
    await run(11)
    expect(smtp.received).toEqual([])
    smtp.replyTo = () => '250 OK'
    for (let n = 1; ; n++) {
      await freeLeases(s.halyard.storage)
      injector.failAt(n)
      await s.halyard.jobs.runDue(at(n * 200))
      if (!injector.disarm()) break
    }
    await freeLeases(s.halyard.storage)
    await other.halyard.jobs.runDue(at(100_000))
    const ids = smtp.received.map(({ headers }) => headers['message-id'])
    expect(ids[0]).toMatch(/^<[0-9a-f-]{36}@flags\.example\.com>$/)
    expect(new Set(ids).size).toBe(1)
    expect(await s.halyard.storage.kysely.selectFrom('emails').selectAll().execute()).toEqual([])
  })

  it('are not sent for what was rolled back', async () => {
    expect((await s.post(`${s.organization}/invites/`, { target_email: ann.email })).status).toBe(400)
    await run(200_000)
    expect(smtp.received).toEqual([])
  })

  it('prove an address that another organization gave to an account of its own', async () => {
    const { id } = (await s.post('/api/organizations/', { name: 'Elsewhere' })).body
    const { value } = (await s.post(`/api/organizations/${id}/scim_tokens/`, { label: 'Okta' })).body
    const userName = 'wanted@example.com'
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
    expect((await s.as(value).post(`/scim/v2/${id}/Users`, { schemas, userName })).status).toBe(201)
    const wanted = await join('wanted')
    expect(wanted.user).toMatchObject({ email: userName, is_email_verified: true })
    const { organizations } = (await wanted.get('/api/users/@me/')).body
    expect(organizations.map((each: { id: string }) => each.id)).toContain(s.organization.split('/').at(-1))
    expect((await s.post(`${s.organization}/invites/`, { target_email: userName })).status).toBe(400)
  })
})

it('emails are given up after the last attempt', () => {
  const now = instantOf(new Date(0))
  expect(nextAttemptAt({ attempts: 0 }, now)).toBe('1970-01-01T00:00:30.000000Z')
  expect(nextAttemptAt({ attempts: attemptsMax - 2 }, now)).toBe('1970-01-01T06:00:00.000000Z')
  expect(nextAttemptAt({ attempts: attemptsMax - 1 }, now)).toBeUndefined()
})

it('emails need an address for their links and a mail server that is one', () => {
  expect(() => readConfig({ HALYARD_SMTP_URL: 'smtp://mail.example.com' })).toThrow('needs HALYARD_PUBLIC_URL')
  expect(() => readConfig({ HALYARD_SMTP_URL: 'mail.example.com', HALYARD_PUBLIC_URL: publicUrl })).toThrow(
    'HALYARD_SMTP_URL must be an smtp:// or smtps:// URL.',
  )
})
