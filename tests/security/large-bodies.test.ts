import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

const budgetBytes = 2 * 1024 * 1024
onEachPath('bodies', environment => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario('sqlite', {
      // The client shares the process: a late event loop says nothing.
      environment: { ...environment, HALYARD_BODIES_BYTES_MAX: String(budgetBytes), HALYARD_LAG_MILLISECONDS_MAX: '0' },
    })
  })
  afterAll(() => s.close())

  const held = () => s.halyard.serving.bodyMemory.heldBytes

  /** Begins a body and never ends it. */
  function dribble(bytes: number): { readonly socket: Socket; readonly status: () => string | undefined } {
    const socket = connect(Number(new URL(s.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', data => {
      text += data.toString('latin1')
    })
    socket.on('error', () => {})
    socket.write(`POST /batch/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n${' '.repeat(bytes)}`)
    return { socket, status: () => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] }
  }

  const evaluate = () =>
    fetch(`${s.url}/flags/?v=2`, {
      method: 'POST',
      body: JSON.stringify({ api_key: s.projectToken, distinct_id: 'a' }),
    })

  const send = (path: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(s.url + path, { method: 'POST', body, headers })

  it('reserves memory for arriving bodies up to the budget, refuses more with 503, serves small ones, and releases it', async () => {
    const slow = Array.from({ length: 30 }, () => dribble(200_000))
    await expect.poll(() => slow.filter(one => one.status() === '503').length).toBeGreaterThanOrEqual(15)
    expect(held()).toBeLessThanOrEqual(budgetBytes)
    expect((await evaluate()).status).toBe(200)
    for (const { socket } of slow) socket.destroy()
    await expect.poll(held).toBe(0)
    const batch = {
      api_key: s.projectToken,
      batch: [{ event: 'e', distinct_id: 'a', properties: { x: 'y'.repeat(500_000) } }],
    }
    expect((await send('/batch/', JSON.stringify(batch))).status).toBe(200)
    await expect.poll(held).toBe(0)
  })

  it('inflates no more than the budget, however many bombs arrive at once', async () => {
    const bomb = gzipSync(Buffer.alloc(900_000, ' '))
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        send(index % 2 ? '/batch/' : '/flags/?v=2', bomb, index % 4 ? { 'content-encoding': 'gzip' } : {}),
      ),
    )
    for (const { status } of answers) expect([400, 503]).toContain(status)
    expect((await evaluate()).status).toBe(200)
    await expect.poll(held).toBe(0)
  })

  it('refuses JSON that costs more than its length before parsing it', async () => {
    const heavy = [Buffer.alloc(500_000, '['), `[${'{},'.repeat(450_000)}1]`, `{${'"a":{'.repeat(90_000)}`]
    for (const body of heavy) {
      expect((await send('/flags/?v=2', body)).status).toBe(body.length > 1024 * 1024 ? 413 : 400)
      expect((await send('/batch/', body)).status).toBe(400)
      const headers = { authorization: `Bearer ${s.key}`, 'content-type': 'application/json' }
      expect((await send(`${s.project}/feature_flags/`, body, headers)).status).toBe(400)
    }
  })

  it('refuses nested compression after inflating once, and large evaluation bodies', async () => {
    const bomb = gzipSync(gzipSync(gzipSync(Buffer.alloc(19 * 1024 * 1024, 'a'))))
    const inflates = () => s.halyard.serving.bodyMemory.inflatesTotal
    for (const path of ['/flags/?v=2', '/decide/?v=3', '/batch/', '/ofrep/v1/evaluate/flags']) {
      const before = inflates()
      const headers = path.startsWith('/ofrep') ? { authorization: `Bearer ${s.projectToken}` } : {}
      expect([path, (await send(path, bomb, headers)).status]).toEqual([path, 400])
      // The fast path may have tried it first.
      expect(inflates() - before).toBeLessThanOrEqual(environment.HALYARD_FAST_PATH === 'off' ? 1 : 2)
    }
    const large = { token: s.projectToken, distinct_id: 'a', person_properties: { x: 'y'.repeat(1024 * 1024) } }
    expect((await send('/flags/?v=2', JSON.stringify(large))).status).toBe(413)
    expect((await send('/flags/?v=2', gzipSync(JSON.stringify(large)))).status).toBe(413)
    await expect.poll(held).toBe(0)
  })

  it('disconnects a client that reads nothing of its response', async () => {
    const payload = JSON.stringify('x'.repeat(450_000))
    for (let index = 0; index < 16; index++) {
      const filters = { groups: [{ rollout_percentage: 100 }], payloads: { true: payload } }
      expect((await s.post(`${s.project}/feature_flags/`, { key: `large-${index}`, filters })).status).toBe(201)
    }
    // As in production, only sooner.
    s.halyard.app.server.timeout = 300
    const taken = once(s.halyard.app.server, 'connection') as Promise<[Socket]>
    const stuck = connect(Number(new URL(s.url).port), '127.0.0.1').pause()
    const ask = `GET ${s.project}/feature_flags/local_evaluation/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.key}\r\n\r\n`
    stuck.write(ask.repeat(4))
    const [socket] = await taken
    await expect.poll(() => socket.destroyed).toBe(true)
    stuck.destroy()
  })
})
