import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Fastify from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEventStreams } from '../../http/routes/event-streams.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type OpenStream, openStream } from '../../testing/event-source.ts'
import { startScenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { serveStreams } from './stream-routes.ts'

onEachDatabase('streams', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  const opened: OpenStream[] = []
  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    await s.post(flags, { key: 'first' })
  })
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close()
  })

  const follow = async (headers: Record<string, string> = {}, path = `${flags}stream`) => {
    const stream = await openStream(s.url + path, { authorization: `Bearer ${s.key}`, ...headers })
    opened.push(stream)
    return stream
  }

  it('sends everything first, then each change', async () => {
    const stream = await follow()
    expect(stream.headers.get('content-type')).toMatch('text/event-stream')
    const state = await stream.next()
    const { body: definitions } = await s.get(`/flags/definitions?token=${s.projectToken}&send_cohorts`)
    expect(state).toMatchObject({ event: 'state', data: definitions })
    const { body: flag } = await s.post(flags, { key: 'second' })
    const created = await stream.next()
    expect(created).toMatchObject({ event: 'change', data: { flags: [{ key: 'second', active: true }], removed: [] } })
    await s.patch(`${flags}${flag.id}/`, { active: false })
    expect((await stream.next())?.data.flags).toMatchObject([{ key: 'second', active: false }])
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    expect(await stream.next()).toMatchObject({ event: 'change', data: { flags: [], removed: [flag.id] } })
    // A change that is not visible in the definitions sends no event.
    await s.patch(`${s.project}/`, { name: 'Another name' })
    await s.patch(`${flags}${flag.id}/`, { deleted: false })
    expect((await stream.next())?.data.flags).toMatchObject([{ key: 'second' }])
  })

  it('resumes where a follower stopped', async () => {
    const first = await follow()
    const state = await first.next()
    await s.post(flags, { key: `resume-a-${dialect}` })
    const seen = await first.next()
    await s.post(flags, { key: `resume-b-${dialect}` })
    await s.post(flags, { key: `resume-c-${dialect}` })
    const resumed = await follow({ 'last-event-id': seen!.id })
    expect((await resumed.next())?.data.flags).toMatchObject([{ key: `resume-b-${dialect}` }])
    expect((await resumed.next())?.data.flags).toMatchObject([{ key: `resume-c-${dialect}` }])
    const older = await follow({ 'last-event-id': state!.id })
    expect((await older.next())?.data.flags).toMatchObject([{ key: `resume-a-${dialect}` }])
    expect((await (await follow({ 'last-event-id': 'long-ago' })).next())?.event).toBe('state')
  })

  it('sends nothing to a follower that is up to date', async () => {
    const state = await (await follow()).next()
    const upToDate = await follow({ 'last-event-id': state!.id })
    const { body: flag } = await s.post(flags, { key: `fresh-${dialect}` })
    expect((await upToDate.next())?.data.flags).toMatchObject([{ id: flag.id }])
  })

  it('sends everything again when the project itself changes', async () => {
    const stream = await follow()
    expect((await stream.next())?.data.property_matching_version).toBe(2)
    await s.patch(`${s.project}/`, { property_matching_version: 1 })
    expect(await stream.next()).toMatchObject({ event: 'state', data: { property_matching_version: 1 } })
  })

  it('misses no change that commits while a stream is being opened', async () => {
    const { body: flag } = await s.post(flags, { key: `opened-${dialect}` })
    const { access, streams } = s.halyard.serving
    const app = Fastify()
    serveStreams(app, {
      streams: { ...streams, close() {} },
      streamGuard: s.halyard.serving.streamGuard,
      access: {
        ...access,
        async toDefinitionsOf(key, projectId) {
          const served = await access.toDefinitionsOf(key, projectId)
          await s.patch(`${flags}${flag.id}/`, { name: 'changed meanwhile' })
          return served
        },
      },
    })
    const stream = await openStream(`${await app.listen({ host: '127.0.0.1', port: 0 })}${flags}stream`, {
      authorization: `Bearer ${s.key}`,
    })
    opened.push(stream)
    expect((await stream.next())?.data.flags).toContainEqual(expect.objectContaining({ name: 'changed meanwhile' }))
    stream.close()
    await app.close()
  })

  it('accepts the credentials that definitions accept', async () => {
    const status = async (key: string, path = `${flags}stream`) =>
      (await follow({ authorization: `Bearer ${key}` }, path)).status
    const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
    expect(await status(secret.value)).toBe(200)
    expect(await status(secret.value, '/api/projects/999999/feature_flags/stream')).toBe(404)
    expect(await status(s.key, `/api/projects/@current/feature_flags/stream?token=${s.projectToken}`)).toBe(200)
    expect(await status(s.key, '/api/projects/999999/feature_flags/stream')).toBe(404)
    expect(await status(s.key, '/api/projects/0x1/feature_flags/stream')).toBe(404)
    expect(await status(s.key, '/api/projects/%201/feature_flags/stream')).toBe(404)
    expect(await status('phx_unknown')).toBe(401)
    expect(await status(s.projectToken)).toBe(401)
    const { body: narrow } = await s.post('/api/personal_api_keys/', { label: 'narrow', scopes: ['cohort:read'] })
    expect(await status(narrow.value)).toBe(403)
    const stranger = await s.stranger(`streams-${dialect}`)
    expect(await status(stranger.key)).toBe(404)
  })

  it('makes OFREP clients refetch, at once when they missed something', async () => {
    const path = `/ofrep/v1/stream?token=${s.projectToken}`
    const stream = await follow({}, path)
    expect(stream.headers.get('access-control-allow-origin')).toBe('*')
    await s.post(flags, { key: `refetch-${dialect}` })
    const word = await stream.next()
    expect(word).toMatchObject({ event: 'message', data: { type: 'refetchEvaluation' } })
    const late = await follow({ 'last-event-id': 'something-older' }, path)
    expect(await late.next()).toMatchObject({ id: word?.id, data: { type: 'refetchEvaluation' } })
    expect((await follow({}, `/ofrep/v1/stream?token=${s.key}`)).status).toBe(401)
    expect((await follow({}, '/ofrep/v1/stream?token=phc_unknown')).status).toBe(401)
  })

  it('ends when the server closes', async () => {
    const other = await startScenario(dialect)
    const stream = await openStream(`${other.url}${other.project}/feature_flags/stream`, {
      authorization: `Bearer ${other.key}`,
    })
    await stream.next()
    const end = stream.next()
    await other.close()
    expect(await end).toBeUndefined()
  })
})

/** Records what is written to a reader. */
function readerOf(frames: string[]): ServerResponse {
  const reader = {
    writableEnded: false,
    writableLength: 0,
    socket: null,
    on() {},
    writeHead() {},
    write: (frame: Buffer) => void frames.push(frame.toString()),
    end(frame: string) {
      reader.writableEnded = true
      frames.push(frame, 'end')
    },
  }
  return reader as unknown as ServerResponse
}

describe('open streams', () => {
  let server: Server
  let promptSocket: Socket | undefined
  const streams = createEventStreams({ streamsPerProjectMax: 2, unreadBytesMax: 64 * 1024, heartbeatMilliseconds: 20 })
  beforeAll(async () => {
    server = createServer((request, response) => {
      try {
        streams.open(request.url === '/topic' ? 1 : 2, request.url!, response, {}, undefined)
        if (request.url === '/prompt') promptSocket = request.socket
      } catch {
        response.writeHead(429).end()
      }
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    streams.close()
    server.closeAllConnections()
    server.close()
  })
  const connect = (path: string): Promise<IncomingMessage> =>
    new Promise(resolve => get({ port: (server.address() as AddressInfo).port, path, agent: false }, resolve))

  it('send a paced event to all readers, and to those that wait only the latest one', async () => {
    const many = createEventStreams()
    const received = Array.from({ length: 250 }, () => [] as string[])
    for (const frames of received) many.open(1, 'paced', readerOf(frames), {}, undefined)
    many.sendPaced('paced', Buffer.from('first'))
    const isFirst = () => received.filter(frames => frames.includes('first')).length
    expect(isFirst()).toBe(100)
    many.sendPaced('paced', Buffer.from('second'))
    const late: string[] = []
    many.open(1, 'paced', readerOf(late), {}, undefined)
    await expect.poll(() => received.every(frames => frames.at(-1) === 'second')).toBe(true)
    expect(isFirst()).toBe(100)
    for (const frames of received) expect(frames.filter(frame => frame === 'second')).toHaveLength(1)
    // It was opened with the newest state.
    expect(late).toEqual([': still here\n\n'])
    many.close()
  })

  it('opened while the server stops get the state, and when to reconnect', async () => {
    const stopping = createEventStreams()
    await stopping.drain()
    const frames: string[] = []
    stopping.open(1, 'late', readerOf(frames), {}, Buffer.from('data: {}\n\n'))
    expect(frames).toEqual(['data: {}\n\n', expect.stringMatching(/^retry: \d+\n\n$/), 'end'])
    expect(stopping.size).toBe(0)
  })

  it('send an event before the rest of the tick runs', async () => {
    const reader = await connect('/prompt')
    streams.send('/prompt', Buffer.from('data: {}\n\n'))
    expect(promptSocket?.writableCorked).toBe(0)
    reader.destroy()
  })

  it('are bounded, and send heartbeats', async () => {
    const [a, , c] = [await connect('/topic'), await connect('/topic'), await connect('/topic')]
    expect([a?.statusCode, c?.statusCode]).toEqual([200, 429])
    let beats = 0
    await new Promise<void>(resolve => {
      a?.on('data', () => {
        beats += 1
        if (beats === 3) resolve()
      })
    })
  })

  it('disconnect a reader that does not keep up', async () => {
    const reader = await connect('/slow')
    const isCut = new Promise(resolve => reader.on('error', resolve).on('aborted', resolve).on('close', resolve))
    reader.pause()
    const before = streams.size
    const frame = Buffer.from(`data: ${'x'.repeat(64 * 1024)}\n\n`)
    await new Promise<void>(resolve => {
      const push = () => {
        streams.send('/slow', frame)
        if (streams.has('/slow')) setImmediate(push)
        else resolve()
      }
      push()
    })
    expect(streams.size).toBe(before - 1)
    reader.resume()
    await isCut
  })
})
