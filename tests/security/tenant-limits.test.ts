import { request as httpRequest, type IncomingMessage } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client, Reply } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** As in production, only smaller. */
const limits = {
  HALYARD_FLAGS_PER_PROJECT_MAX: '4',
  HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX: '20000',
  HALYARD_SERVED_BYTES_MAX: '30000',
  HALYARD_STREAMS_MAX: '5',
  HALYARD_STREAMS_PER_PROJECT_MAX: '3',
  HALYARD_EVENTS_WAITING_MAX: '20',
  HALYARD_LAG_MILLISECONDS_MAX: '0',
}

const payloadOf = (bytes: number) => ({ groups: [{ properties: [] }], payloads: { true: 'x'.repeat(bytes) } })

onEachDatabase('a tenant at its limits', dialect => {
  const s = suiteScenario(dialect, { environment: limits })
  let other: Client & { project: string }
  let otherToken: string
  beforeAll(async () => {
    other = await s.stranger('neighbor')
    otherToken = (await other.get(`${other.project}/`)).body.api_token
    await other.post(`${other.project}/feature_flags/`, { key: 'neighbors' })
  })

  const expectNamed = (reply: Reply, status: number, name: string) => {
    expect(reply.status, reply.text).toBe(status)
    expect(reply.body.detail).toContain(name)
  }
  /** Whatever the first tenant is refused, the second is served. */
  const expectNeighborServed = async () => {
    const evaluated = await s.post('/flags/?v=2', { token: otherToken, distinct_id: 'someone' })
    expect(Object.keys(evaluated.body.flags)).toEqual(['neighbors'])
    const changed = await other.get(`${other.project}/feature_flags/`)
    expect(changed.body.count).toBe(1)
  }

  it('has so many flags and no more, also by restoring and by copying', async () => {
    const path = `${s.project}/feature_flags/`
    const ids: number[] = []
    for (let n = 0; n < 4; n++) ids.push((await s.post(path, { key: `flag-${n}` })).body.id)
    expectNamed(await s.post(path, { key: 'one-more' }), 400, 'HALYARD_FLAGS_PER_PROJECT_MAX')
    expect((await s.patch(`${path}${ids[0]}/`, { deleted: true })).status).toBe(200)
    expect((await s.post(path, { key: 'in-its-place' })).status).toBe(201)
    expectNamed(await s.patch(`${path}${ids[0]}/`, { deleted: false }), 400, 'HALYARD_FLAGS_PER_PROJECT_MAX')
    // What is there can still be changed and switched off.
    expect((await s.patch(`${path}${ids[1]}/`, { name: 'changed', active: false })).status).toBe(200)
    const second = (await s.post('/api/projects/', { name: 'second' })).body
    await s.post(`/api/projects/${second.id}/feature_flags/`, { key: 'copied' })
    const copied = await s.post(`${s.organization}/feature_flags/copy_flags/`, {
      feature_flag_key: 'copied',
      from_project: second.id,
      target_project_ids: [s.projectId],
    })
    expect(copied.status).toBe(400)
    expect((await s.get(path)).body.count).toBe(4)
    await expectNeighborServed()
  })

  it('has so many bytes of conditions and payloads', async () => {
    const { id } = (await s.post('/api/projects/', { name: 'large' })).body
    const path = `/api/projects/${id}/feature_flags/`
    const first = await s.post(path, { key: 'large', filters: payloadOf(12_000) })
    expect(first.status).toBe(201)
    const more = await s.post(path, { key: 'too-large', filters: payloadOf(12_000) })
    expectNamed(more, 400, 'HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX')
    expect((await s.post(path, { key: 'small', filters: payloadOf(100) })).status).toBe(201)
    await expectNeighborServed()
  })

  it('shares the memory for what is served: the least used leaves, and is read again when it is asked for', async () => {
    const tokens: string[] = []
    for (let n = 0; n < 4; n++) {
      const { id, api_token } = (await s.post('/api/projects/', { name: `served ${n}` })).body
      await s.post(`/api/projects/${id}/feature_flags/`, { key: `served-${n}`, filters: payloadOf(12_000) })
      tokens.push(api_token)
    }
    for (let round = 0; round < 2; round++) {
      for (const [n, token] of tokens.entries()) {
        const evaluated = await s.post('/flags/?v=2', { token, distinct_id: 'someone' })
        expect(Object.keys(evaluated.body.flags)).toEqual([`served-${n}`])
      }
    }
    const { snapshots } = s.halyard.serving
    expect(tokens.filter(token => snapshots.cached(token)).length).toBeLessThanOrEqual(2)
    await expectNeighborServed()
  })

  it('opens so many streams and no more, and the neighbor still gets one', async () => {
    const opened: Opened[] = []
    try {
      for (let n = 0; n < 3; n++) opened.push(await openStream(s.url, s.projectToken))
      expect(opened.map(({ status }) => status)).toEqual([200, 200, 200])
      const refused = await openStream(s.url, s.projectToken)
      expect([refused.status, refused.retryAfter]).toEqual([429, '30'])
      expect(refused.text).toContain('HALYARD_STREAMS_PER_PROJECT_MAX')
      for (let n = 0; n < 2; n++) opened.push(await openStream(s.url, otherToken))
      expect(opened.at(-1)?.status).toBe(200)
      const full = await openStream(s.url, otherToken)
      expect([full.status, full.text.includes('HALYARD_STREAMS_MAX')]).toEqual([429, true])
    } finally {
      for (const stream of opened) stream.end()
    }
    await expect.poll(() => s.halyard.serving.streams.size).toBe(0)
    const again = await openStream(s.url, s.projectToken)
    expect(again.status).toBe(200)
    again.end()
  })

  it('fills its share of the event queue, and other projects can still enqueue', async () => {
    const batch = (token: string, name: string, count: number) => ({
      api_key: token,
      batch: Array.from({ length: count }, (_, n) => ({
        event: 'seen',
        distinct_id: `${name}-${n}`,
        properties: { $set: { name } },
      })),
    })
    // Nothing is stored until this is over.
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const { writersMax } = s.halyard.storage
    const writers = Array.from({ length: Number.isFinite(writersMax) ? writersMax : 1 }, () =>
      s.halyard.database.transaction(() => held).catch(() => {}),
    )
    const replies: Reply[] = []
    const floods = Array.from({ length: 12 }, async (_, n) => {
      replies.push(await s.post('/batch/', batch(s.projectToken, `flood-${n}`, 9)))
    })
    await expect.poll(() => replies.length).toBeGreaterThanOrEqual(10)
    const fair = s.post('/batch/', batch(otherToken, 'fair', 2))
    release()
    await Promise.all([...writers, ...floods])
    expect((await fair).status).toBe(200)
    const refused = replies.filter(reply => reply.status !== 200)
    for (const reply of refused) {
      expectNamed(reply, 503, 'HALYARD_EVENTS_WAITING_MAX')
      expect(reply.headers.get('retry-after')).toBe('1')
    }
    expect(refused.length).toBeGreaterThan(0)
    const acknowledged = replies.length - refused.length
    expect((await s.get(`${s.project}/persons/?limit=200`)).body.results).toHaveLength(acknowledged * 9)
  })
})

interface Opened {
  readonly status: number
  readonly retryAfter: string | undefined
  /** What a refusal says. */
  readonly text: string
  end(): void
}

function openStream(url: string, token: string): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}/ofrep/v1/stream?token=${token}`,
      { agent: false },
      (response: IncomingMessage) => {
        const retryAfter = response.headers['retry-after']
        const status = response.statusCode ?? 0
        const end = () => request.destroy()
        let text = ''
        response.on('error', () => {})
        response.on('data', data => {
          text += data
          if (status === 200) resolve({ status, retryAfter, text, end })
        })
        response.on('end', () => resolve({ status, retryAfter, text, end }))
      },
    )
    request.on('error', reject)
    request.end()
  })
}
