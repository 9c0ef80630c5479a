import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { freeLeases, onEachDatabase, writeDirectly } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every format.
  readonly body: any
}

onEachDatabase('webhooks', dialect => {
  const injector = createFaultInjector()
  let s: Scenario
  let other: Scenario
  let receiver: Server
  let origin: string
  let received: Received[]
  let respond: () => number
  /** When the receiver responds on the path `/slow`. */
  let slowly = Promise.resolve()
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let text = ''
      request.on('data', chunk => {
        text += chunk
      })
      request.on('end', () => {
        received.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) })
        const status = respond()
        const isDue = request.url === '/slow' ? slowly : Promise.resolve()
        isDue.then(() => response.writeHead(status).end())
      })
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const environment = { HALYARD_TRUSTED_ORIGINS: origin }
    s = await startScenario(dialect, { storage: injector, environment })
    other = await s.startAnother({ environment })
  })
  afterAll(async () => {
    await s.close()
    receiver.close()
  })
  beforeEach(() => {
    received = []
    respond = () => 204
  })

  const at = (seconds: number) => instantOf(new Date(Date.now() + seconds * 1000))
  /** A project of its own with one webhook. */
  async function hooked(more: object = {}) {
    // What earlier tests left behind is not sent again.
    await writeDirectly(s.halyard.storage, db => db.updateTable('webhooks').set({ enabled: 0 }).execute())
    const { body: project } = await s.post('/api/projects/', { name: 'hooked' })
    const path = `/api/projects/${project.id}`
    const made = await s.post(`${path}/webhooks/`, { name: 'Releases', url: `${origin}/hook`, ...more })
    expect(made.status, made.text).toBe(201)
    const hook = `${path}/webhooks/${made.body.id}/`
    const deliveries = async () => (await s.get(`${hook}deliveries/`)).body.results
    const flag = async (body: object) => (await s.post(`${path}/feature_flags/`, body)).body
    return { id: project.id as number, path, hook, secret: made.body.secret as string, deliveries, flag }
  }
  const run = async (seconds: number) => {
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(at(seconds))
  }
  const types = () => received.map(({ body }) => body.type)

  it('are sent what happened, signed, once, with a log', async () => {
    const p = await hooked()
    const { id } = await p.flag({ key: 'sent' })
    await s.patch(`${p.path}/feature_flags/${id}/`, { name: 'changed' })
    await s.patch(`${p.path}/feature_flags/${id}/`, { deleted: true })
    expect(received).toEqual([])
    await Promise.all([s.halyard.jobs.runDue(at(1)), other.halyard.jobs.runDue(at(1))])
    await run(2)
    expect(types().sort()).toEqual(['flag.created', 'flag.deleted', 'flag.updated'])
    for (const { headers, text } of received) {
      const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-halyard-signature']))!
      expect(signature).toBe(createHmac('sha256', p.secret).update(`${time}.${text}`).digest('hex'))
    }
    expect(received.find(({ body }) => body.type === 'flag.updated')?.body).toMatchObject({
      project: { id: p.id, name: 'hooked' },
      actor: { email: 'owner@halyard.local' },
      item: { name: 'sent' },
      changes: [{ field: 'name', after: 'changed' }],
    })
    const log = await p.deliveries()
    expect(log).toHaveLength(3)
    expect(log[0]).toMatchObject({ status: 'delivered', attempts: 1, response_status: 204, failure: null })
    const again = await s.post(`${p.hook}deliveries/${log[0].id}/resend/`)
    expect(again.body).toMatchObject({ status: 'delivered', event_id: log[0].event_id })
    expect(received.at(-1)?.headers['x-halyard-delivery']).toBe(log[0].event_id)
  })

  it('are notified of approvals, emergencies and freezes, by kind and tag', async () => {
    const ann = await s.join('ann')
    const p = await hooked({
      events: [
        'change_request.opened',
        'change_request.approved',
        'change_request.applied',
        'emergency.applied',
        'freeze.created',
      ],
    })
    const tagged = await s.post(`${p.path}/webhooks/`, { name: 'Checkout', url: `${origin}/tag`, tag: 'checkout' })
    expect(tagged.status).toBe(201)
    const flag = await p.flag({ key: 'plain' })
    await p.flag({ key: 'in-checkout', tags: ['checkout'] })
    await s.post(`${p.path}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const asked = await s.patch(`${p.path}/feature_flags/${flag.id}/`, { name: 'asked' })
    await ann.post(`${asked.body.change_request.url}approve/`, { reason: 'Looks right.' })
    const emergency = { 'x-halyard-emergency': 'Checkout is down' }
    await s.patch(`${p.path}/feature_flags/${flag.id}/`, { name: 'fixed' }, emergency)
    const { body: freeze } = await s.post(`${s.organization}/freezes/`, {
      reason: 'Sale',
      project: p.id,
      ends_at: at(3600),
    })
    await s.delete(`${s.organization}/freezes/${freeze.id}/`)
    await run(1)
    const byName = received.map(({ body }) => `${body.type} ${body.item.name}`).sort()
    expect(byName).toEqual([
      'change_request.applied Update plain',
      'change_request.approved Update plain',
      'change_request.opened Update plain',
      'emergency.applied Update plain',
      'flag.created in-checkout',
      'freeze.created Sale',
      'freeze.created Sale',
      'freeze.ended Sale',
    ])
    const reasons = received.map(({ body }) => body.trigger?.reason).filter(reason => reason)
    expect(reasons.sort()).toEqual(['Checkout is down', 'Looks right.'])
  })

  it('are retried with backoff after failures, and disabled after many', async () => {
    const p = await hooked()
    respond = () => 500
    await p.flag({ key: 'retried' })
    await run(1)
    const [first] = await p.deliveries()
    expect(first).toMatchObject({ status: 'pending', attempts: 1, response_status: 500, failure: expect.any(String) })
    await run(2)
    expect(received).toHaveLength(1)
    respond = () => 200
    await run(40)
    expect(await p.deliveries()).toMatchObject([{ status: 'delivered', attempts: 2, event_id: first.event_id }])

    respond = () => 410
    const id = Number(p.hook.split('/').at(-2))
    await writeDirectly(s.halyard.storage, db =>
      db.updateTable('webhooks').set({ failures: 49 }).where('id', '=', id).execute(),
    )
    await p.flag({ key: 'last-straw' })
    await run(50)
    const disabled = await s.get(p.hook)
    expect(disabled.body).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('returned 410') })
    received = []
    await p.flag({ key: 'not-delivered' })
    await run(10_000)
    expect(received).toEqual([])
    respond = () => 200
    expect((await s.patch(p.hook, { enabled: true })).body).toMatchObject({ failures: 0, disabled_reason: null })
    await run(10_000)
    expect(received.map(({ body }) => body.item.name)).toEqual(['last-straw'])
  })

  it('get an event again when the node ends between sending and recording, and never one that was rolled back', async () => {
    const p = await hooked()
    await p.flag({ key: 'interrupted' })
    for (let n = 1; ; n++) {
      await freeLeases(s.halyard.storage)
      injector.failAt(n)
      await s.halyard.jobs.runDue(at(n * 200))
      if (!injector.disarm()) break
    }
    await freeLeases(s.halyard.storage)
    await other.halyard.jobs.runDue(at(100_000))
    const [first, ...repeated] = received.map(({ headers }) => headers['x-halyard-delivery'])
    expect(first).toBeDefined()
    expect(new Set([first, ...repeated]).size).toBe(1)
    expect((await p.deliveries()).map((one: { status: string }) => one.status)).toEqual(['delivered'])
    received = []
    expect((await s.post(`${p.path}/feature_flags/`, { key: 'interrupted' })).status).toBe(400)
    await run(100_001)
    expect(received).toEqual([])
  })

  it('wait only for their own receiver: one that does not respond delays no other', async () => {
    let release = () => {}
    slowly = new Promise(resolve => {
      release = resolve
    })
    const slow = await hooked({ url: `${origin}/slow` })
    const { body: project } = await s.post('/api/projects/', { name: 'quick' })
    await s.post(`/api/projects/${project.id}/webhooks/`, { name: 'Quick', url: `${origin}/quick` })
    for (let n = 0; n < 60; n++) await slow.flag({ key: `slow-${n}` })
    await freeLeases(s.halyard.storage)
    const running = s.halyard.jobs.runDue(at(1))
    const sentTo = (path: string) => received.filter(one => one.path === path)
    await expect.poll(() => sentTo('/slow').length).toBeGreaterThan(0)
    // It happens while the run is busy with the others, of which most are still to be sent.
    await s.post(`/api/projects/${project.id}/feature_flags/`, { key: 'quick' })
    await expect.poll(() => sentTo('/quick').length).toBe(1)
    expect(sentTo('/slow').length).toBeLessThan(30)
    await s.delete(slow.hook)
    release()
    await running
    expect(sentTo('/slow').length).toBeLessThan(60)
  }, 120_000)

  it('get the events of a flag in the order of its changes', async () => {
    const p = await hooked()
    const flags = [await p.flag({ key: 'first' }), await p.flag({ key: 'second' })]
    for (let n = 1; n <= 20; n++) {
      for (const { id } of flags) await s.patch(`${p.path}/feature_flags/${id}/`, { name: `change ${n}` })
    }
    await run(1)
    expect(received).toHaveLength(42)
    for (const name of ['first', 'second']) {
      const changes = received.filter(({ body }) => body.item.name === name).map(({ body }) => body.changes[0]?.after)
      expect(changes.slice(1)).toEqual(Array.from({ length: 20 }, (_, n) => `change ${n + 1}`))
    }
  })

  it('that fail get one request at a time and are disabled after exactly 50', async () => {
    const p = await hooked()
    respond = () => 500
    for (let n = 0; n < 60; n++) await p.flag({ key: `failing-${n}` })
    await run(1)
    expect(received).toHaveLength(50)
    expect((await s.get(p.hook)).body).toMatchObject({ enabled: false, failures: 50 })
  })

  it('with a tag get what a flag had the tag for, whatever its tags are when it is sent', async () => {
    const p = await hooked({ tag: 'checkout "&" pay' })
    const { id } = await p.flag({
      key: 'tagged',
      tags: ['checkout "&" pay', { nested: 'checkout "&" pay' }],
    })
    await p.flag({ key: 'nested', tags: [{ nested: 'checkout "&" pay' }, 'checkout'] })
    const change = (body: object) => s.patch(`${p.path}/feature_flags/${id}/`, body)
    await change({ name: 'with the tag' })
    await change({ tags: ['other'] })
    await change({ name: 'without' })
    await run(1)
    expect(received.map(({ body }) => [body.item.name, body.changes[0]?.field ?? null])).toEqual([
      ['tagged', null],
      ['tagged', 'name'],
      ['tagged', 'tags'],
    ])
  })

  it('speak Slack, Teams and Discord, send a test at once and rotate their secret with an overlap', async () => {
    const p = await hooked()
    for (const [format, text] of [
      ['slack', (body: Received['body']) => body.text],
      ['teams', (body: Received['body']) => body.attachments[0].content.body[0].inlines[0].text],
      ['discord', (body: Received['body']) => body.content],
    ] as const) {
      expect((await s.patch(p.hook, { format })).body.format).toBe(format)
      const reply = await s.post(`${p.hook}test/`)
      expect(reply.body).toMatchObject({ event: 'test', status: 'delivered', response_status: 204 })
      expect(text(received.at(-1)?.body)).toContain('Test message: "Releases"')
    }
    const rotated = await s.post(`${p.hook}rotate_secret/`)
    expect(rotated.body.secret).not.toBe(p.secret)
    await s.post(`${p.hook}test/`)
    expect(String(received.at(-1)?.headers['x-halyard-signature']).match(/v1=/g)).toHaveLength(2)
    expect((await s.get(p.hook)).body).not.toHaveProperty('secret')
    const activity = await s.halyard.storage.kysely.selectFrom('activity').select('detail').execute()
    expect(activity.length).toBeGreaterThan(0)
    expect(JSON.stringify(activity)).not.toContain(rotated.body.secret)
  })

  it('refuse private addresses, wrong fields, members and strangers', async () => {
    const p = await hooked()
    const wrong: readonly (readonly [object, string])[] = [
      [{ url: 'ftp://example.com' }, 'url'],
      [{ url: 'https://user:password@example.com' }, 'url'],
      [{ name: '' }, 'name'],
      [{ events: ['flag.exploded'] }, 'events'],
      [{ format: 'carrier-pigeon' }, 'format'],
    ]
    for (const [fields, attr] of wrong) {
      const reply = await s.post(`${p.path}/webhooks/`, { name: 'x', url: `${origin}/x`, ...fields })
      expect([reply.status, reply.body.attr], JSON.stringify(fields)).toEqual([400, attr])
    }
    await s.patch(p.hook, { url: 'http://127.0.0.1:9/' })
    expect((await s.post(`${p.hook}test/`)).body).toMatchObject({
      status: 'pending',
      response_status: null,
      failure: '127.0.0.1 was not found or is not a public address.',
    })
    const member = await s.join(`member-${p.id}`)
    expect((await member.get(`${p.path}/webhooks/`)).status).toBe(403)
    expect((await member.post(`${p.hook}test/`)).status).toBe(403)
    const stranger = await s.stranger(`stranger-${p.id}`)
    expect((await stranger.get(`${p.path}/webhooks/`)).status).toBe(404)
    const own = p.hook.replace(`projects/${p.id}`, `projects/${stranger.project.split('/').at(-1)}`)
    expect((await stranger.get(own)).status).toBe(404)
    expect((await s.post(`${p.hook}deliveries/999999/resend/`)).status).toBe(404)
    expect((await s.delete(p.hook)).status).toBe(204)
    expect((await s.get(p.hook)).status).toBe(404)
  })
})
