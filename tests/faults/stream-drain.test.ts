import { createClient } from '@halyard/client'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { newEdgeFolder, removeEdgeFolder } from '../../packages/server/src/testing/edges.ts'
import { openStream } from '../../packages/server/src/testing/event-source.ts'
import { ownerKey, type ServerProcess, startEdge, startServer } from './server-process.ts'

const streamsOfAKind = 30
const headers = { authorization: `Bearer ${ownerKey}` }

/** What a deploy does to open streams, on the built program. */
onEachDatabase('a node that is stopped', dialect => {
  it.each(['1', '2'])('with %s workers ends all streams, each with its own delay for the reconnect', async workers => {
    const database = await createTestDatabase(dialect)
    const server = await startServer(database.url, { HALYARD_WORKERS: workers })
    try {
      const { definitions, evaluations } = await pathsOf(server)
      const paths = [definitions, evaluations, '/api/changes/stream/'].flatMap(path => Array(streamsOfAKind).fill(path))
      const streams = await Promise.all(paths.map(path => followToEnd(server.url + path)))
      await expectDrained(server, streams)
    } finally {
      await server.stop()
      await database.drop()
    }
  })

  it('hands its clients to another node, and they miss no change', async () => {
    const database = await createTestDatabase(dialect)
    const [first, second] = [await startServer(database.url), await startServer(database.url)]
    let current = first
    const balanced = (url: string, init?: object) => fetch(url.replace(first.url, current.url), init)
    const client = createClient({ url: first.url, key: ownerKey, exposures: false, fetch: balanced })
    try {
      const { flags, definitions } = await pathsOf(first)
      const { id } = await write(second, 'POST', flags, { key: 'moved' })
      // A node keeps the changes of a project while there is a stream.
      const other = await openStream(second.url + definitions, headers)
      const known = (await other.next())!.id
      const changed: string[] = []
      client.on('change', keys => changed.push(...keys))
      const evaluate = (key: string) => client.evaluateLocally(key, { distinctId: 'user' }).value
      await expect.poll(() => evaluate('moved')).toBe(true)
      const ended = first.stop()
      current = second
      // While the streams of the first node end, and after that.
      await write(second, 'PATCH', `${flags}${id}/`, { filters: { groups: [{ rollout_percentage: 0 }] } })
      await ended
      await write(second, 'POST', flags, { key: 'after-deploy' })
      await expect.poll(() => evaluate('after-deploy'), patience).toBe(true)
      expect(evaluate('moved')).toBe(false)
      expect(changed).toEqual(expect.arrayContaining(['moved', 'after-deploy']))
      const resumed = await openStream(second.url + definitions, { ...headers, 'last-event-id': known })
      expect([(await resumed.next())?.event, (await resumed.next())?.event]).toEqual(['change', 'change'])
      resumed.close()
      other.close()
    } finally {
      await client.close()
      await Promise.all([first.stop(), second.stop()])
      await database.drop()
    }
  })
})

it('an edge ends its streams like a node, and reconnects when its upstream asks for it', async () => {
  const database = await createTestDatabase('sqlite')
  const folder = await newEdgeFolder()
  const upstream = await startServer(database.url)
  const key = await write(upstream, 'POST', '/api/personal_api_keys/', edgeKey)
  const edge = await startEdge(['--upstream', upstream.url, '--data', folder], { HALYARD_UPSTREAM_KEY: key.value })
  try {
    const { evaluations } = await pathsOf(upstream)
    const streams = await Promise.all(Array.from({ length: streamsOfAKind }, () => followToEnd(edge.url + evaluations)))
    expect(await upstream.stop()).toBe(0)
    const lost = () => edge.lines.find(line => line.includes('not following the upstream'))
    await expect.poll(lost, patience).toBeDefined()
    // Its own first delay is at most a quarter of a second.
    expect(JSON.parse(lost()!).retryMilliseconds).toBeGreaterThanOrEqual(500)
    await expectDrained(edge, streams)
  } finally {
    await edge.stop()
    await upstream.stop()
    await removeEdgeFolder(folder)
    await database.drop()
  }
})

const patience = { timeout: 30_000 }
const edgeKey = { label: 'edge', scopes: ['edge:write'] }

async function expectDrained(server: ServerProcess, streams: readonly (() => Promise<string>)[]): Promise<void> {
  expect(await server.stop()).toBe(0)
  // Not by the deadline of the stop.
  expect(server.lines.some(line => line.includes('server_stopped'))).toBe(true)
  const texts = await Promise.all(streams.map(read => read()))
  const delays = texts.map(text => Number(/\n\nretry: (\d+)\n\n$/.exec(text)?.[1]))
  for (const delay of delays) expect(delay).toBeGreaterThanOrEqual(500)
  expect(Math.max(...delays)).toBeLessThanOrEqual(10_000)
  expect(new Set(delays).size).toBeGreaterThan(delays.length / 2)
}

/** Resolves when the stream is open; the function that it returns resolves with everything that was received when it has ended. */
async function followToEnd(url: string): Promise<() => Promise<string>> {
  const response = await fetch(url, { headers })
  expect(response.status).toBe(200)
  const text = response.text()
  text.catch(() => {})
  return () => text
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape.
async function write(server: ServerProcess, method: string, path: string, body: object): Promise<any> {
  const init = { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(server.url + path, init)
  expect(response.ok).toBe(true)
  return response.json()
}

async function pathsOf({ url }: ServerProcess) {
  const response = await fetch(`${url}/api/projects/`, { headers })
  const { results } = (await response.json()) as { results: { id: number; api_token: string }[] }
  const { id, api_token: token } = results[0]!
  const flags = `/api/projects/${id}/feature_flags/`
  return { flags, definitions: `${flags}stream`, evaluations: `/ofrep/v1/stream?token=${token}` }
}
