import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuditEntry } from '@halyard/contract'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { freeLeases, onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { canonicalJson, verifyChain } from '../audit/verify-chain.ts'

interface Received {
  readonly path: string
  readonly signature: string
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every format.
  readonly body: any
}

onEachDatabase('webhooks for the audit log', dialect => {
  let s: Scenario
  let other: Scenario
  let receiver: Server
  let origin: string
  let received: Received[]
  let status = 204
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let text = ''
      request.on('data', chunk => {
        text += chunk
      })
      request.on('end', () => {
        const signature = String(request.headers['x-halyard-signature'])
        received.push({ path: request.url ?? '', signature, text, body: JSON.parse(text) })
        response.writeHead(status).end()
      })
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const environment = { HALYARD_TRUSTED_ORIGINS: origin }
    s = await startScenario(dialect, { environment })
    other = await s.startAnother({ environment })
  })
  afterAll(async () => {
    await s.close()
    receiver.close()
  })
  beforeEach(() => {
    received = []
    status = 204
  })

  const at = (seconds: number) => instantOf(new Date(Date.now() + seconds * 1000))
  const run = async (seconds: number) => {
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(at(seconds))
  }
  const hook = (path: string, more: object = {}) => ({
    name: `audit ${path}`,
    url: `${origin}${path}`,
    events: ['audit'],
    ...more,
  })
  const entriesAt = (path: string): AuditEntry[] =>
    received.filter(one => one.path === path).map(({ body }) => body.entry)
  const head = async () => (await s.get(`${s.organization}/audit_log/head/`)).body

  it('get every entry of the organization signed and in order, and the chain verifies from what they got', async () => {
    const before = await head()
    const made = await s.post(`${s.project}/webhooks/`, hook('/chain'))
    expect(made.status, made.text).toBe(201)
    await s.post(`${s.project}/webhooks/`, { name: 'All events', url: `${origin}/all` })
    for (let n = 0; n < 5; n++) await s.post(`${s.project}/feature_flags/`, { key: `chained-${n}` })
    await s.post('/api/projects/', { name: 'Another project' })
    await Promise.all([s.halyard.jobs.runDue(at(1)), other.halyard.jobs.runDue(at(1))])
    await run(2)
    await run(3)

    const own = received.filter(({ path }) => path === '/chain')
    for (const { text, signature } of own) {
      const [, time, sent] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature)!
      expect(sent).toBe(createHmac('sha256', made.body.secret).update(`${time}.${text}`).digest('hex'))
    }
    const entries = entriesAt('/chain')
    expect(own.every(({ body }) => body.type === 'audit')).toBe(true)
    expect(entries.map(({ operation }) => operation)).toEqual([
      'createWebhook',
      'createWebhook',
      ...Array.from({ length: 5 }, () => 'createFeatureFlag'),
      'createProject',
    ])
    const shown = (await s.get(`${s.organization}/audit_log/?limit=8`)).body.results
    expect([...entries].reverse()).toEqual(shown)
    const last = entries.at(-1)!
    const lines = [...entries, { head: { hash: last.hash, sequence: last.sequence } }].map(one => JSON.stringify(one))
    expect(lines.at(0)).toBe(canonicalJson(entries[0]))
    expect((await verifyChain(lines, { after: before.hash, head: last.hash })).faults).toEqual([])
    lines[3] = lines[3]!.replace('chained-', 'changed-')
    expect((await verifyChain(lines, { after: before.hash })).faults).not.toEqual([])
    // Without `audit` among its events, a webhook gets none.
    expect(received.filter(({ path }) => path === '/all').map(({ body }) => body.type)).not.toContain('audit')
    expect(received.some(({ path }) => path === '/all')).toBe(true)
    const log = (await s.get(`${s.project}/webhooks/${made.body.id}/deliveries/`)).body
    expect(log.count).toBe(entries.length)
    expect(log.results[0]).toMatchObject({ event: 'audit', item_name: `${last.sequence} createProject` })
  })

  it('do not add entries by delivering them, and continue where they were after a pause', async () => {
    const { body } = await s.post(`${s.project}/webhooks/`, hook('/pause'))
    const path = `${s.project}/webhooks/${body.id}/`
    await run(10)
    const quiet = await head()
    received = []
    await run(11)
    await run(12)
    expect((await head()).hash).toBe(quiet.hash)
    expect(received).toEqual([])
    await s.patch(path, { enabled: false })
    await s.post(`${s.project}/feature_flags/`, { key: 'while-paused' })
    await run(13)
    expect(entriesAt('/pause')).toEqual([])
    await s.patch(path, { enabled: true, name: 'resumed' })
    await run(14)
    const sequences = entriesAt('/pause').map(({ sequence }) => sequence)
    expect(sequences).toEqual([1, 2, 3].map(n => quiet.sequence + n))
    received = []
    await s.patch(path, { events: ['flag.created'] })
    await s.post(`${s.project}/feature_flags/`, { key: 'not-followed' })
    await run(15)
    expect(entriesAt('/pause').filter(entry => entry)).toEqual([])
    expect((await s.patch(path, { events: ['audit'] })).status).toBe(200)
    await run(16)
    expect(entriesAt('/pause').flatMap(entry => entry?.operation ?? [])).toEqual(['updateWebhook'])
  })

  it('need a caller who can read the audit log, to add it and to change where it goes', async () => {
    const key = async (body: object) => {
      const made = await s.post('/api/personal_api_keys/', { label: 'hooks', ...body })
      expect(made.status, made.text).toBe(201)
      return s.as(made.body.value)
    }
    const unscoped = await key({ scopes: ['project:write'] })
    const limited = await key({ scopes: ['*'], scoped_teams: [s.projectId] })
    const able = await key({ scopes: ['project:write', 'audit_log:read'] })
    const member = await s.join('auditing-member')
    const before = (await s.get(`${s.project}/webhooks/`)).body.count
    for (const client of [unscoped, limited, member]) {
      const reply = await client.post(`${s.project}/webhooks/`, hook('/refused'))
      expect(reply.status, reply.text).toBe(403)
    }
    expect((await unscoped.post(`${s.project}/webhooks/`, hook('/refused'))).body.attr).toBe('events')
    expect((await s.get(`${s.project}/webhooks/`)).body.count).toBe(before)

    const { body: plain } = await unscoped.post(`${s.project}/webhooks/`, hook('/refused', { events: [] }))
    const added = await unscoped.patch(`${s.project}/webhooks/${plain.id}/`, { events: ['audit'] })
    expect([added.status, added.body.attr]).toEqual([403, 'events'])
    const { body: made } = await able.post(`${s.project}/webhooks/`, hook('/able'))
    const moved = await unscoped.patch(`${s.project}/webhooks/${made.id}/`, { url: `${origin}/refused` })
    expect([moved.status, moved.body.attr]).toEqual([403, 'events'])
    expect((await s.get(`${s.project}/webhooks/${made.id}/`)).body.url).toBe(`${origin}/able`)
    expect((await unscoped.patch(`${s.project}/webhooks/${made.id}/`, { events: ['flag.created'] })).status).toBe(200)
    await run(20)
    expect(entriesAt('/refused').filter(entry => entry)).toEqual([])
  })

  it('send nothing when their creator can read the log no more, and nothing of other organizations', async () => {
    const admin = await s.join('departing', 8)
    const { body: made } = await admin.post(`${s.project}/webhooks/`, hook('/departed'))
    const stranger = await s.stranger('listening')
    expect((await stranger.post(`${s.project}/webhooks/`, hook('/foreign'))).status).toBe(404)
    expect((await stranger.post(`${stranger.project}/webhooks/`, hook('/foreign'))).status).toBe(201)
    await run(30)
    expect(entriesAt('/departed').length).toBeGreaterThan(0)
    const organizations = new Set(entriesAt('/foreign').map(({ organization }) => organization))
    expect([...organizations]).toEqual([stranger.organization.split('/').at(-1)])

    received = []
    await s.patch(`${s.organization}/members/${admin.uuid}/`, { level: 1 })
    await run(31)
    expect(entriesAt('/departed')).toEqual([])
    const path = `${s.project}/webhooks/${made.id}/`
    const [waiting] = (await s.get(`${path}deliveries/`)).body.results
    expect(waiting.failure).toContain('creator of the webhook cannot read the audit log')
    const resent = await s.post(`${path}deliveries/${waiting.id}/resend/`)
    expect(resent.body.failure).toContain('cannot read the audit log')
    await s.patch(path, { events: ['flag.created'] })
    const again = await s.patch(path, { events: ['flag.created', 'audit'] })
    expect([again.status, again.body.attr]).toEqual([400, 'events'])
    expect(entriesAt('/departed')).toEqual([])
  })

  it('name what was done, its user and the hash in chats', async () => {
    await s.post(`${s.project}/webhooks/`, hook('/slack', { format: 'slack' }))
    const { hash, sequence } = await head()
    await run(40)
    expect(received.filter(({ path }) => path === '/slack').map(({ body }) => body.text)).toEqual([
      `Audit log ${sequence}: createWebhook by owner@halyard.local. Hash: ${hash}`,
    ])
  })
})
