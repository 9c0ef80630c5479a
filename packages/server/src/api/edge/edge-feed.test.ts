import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import type { Actor } from '../../tenancy.ts'
import { createEdgeFeed, type EdgeFeed } from './edge-feed.ts'
import { documentOf, projectState } from './project-state.ts'
import type { ProjectStates } from './project-states.ts'

const documents = Array.from({ length: 64 }, (_, n) => [`flag/${n}`, 'x'.repeat(512 * 1024)] as const)
const large = projectState('p', new Map(documents.map(([name, json]) => [name, documentOf(name, json)])))

/** One project that is larger than all buffers between two sockets. */
const states: ProjectStates = {
  visibleTo: async () => [1],
  find: async () => large,
  keep: () => () => {},
  onChange: () => () => {},
  close() {},
}
const actor = (id: number) => ({ user: { id } }) as Actor

it('disconnects an edge that does not read its stream', async () => {
  const feed = createEdgeFeed(states, { drainMillisecondsMax: 50 })
  const taken: ServerResponse[] = []
  const server = createServer(async (_request, response) => {
    taken.push(response)
    const takeOver = await feed.follow({ authenticate: async () => actor(1), have: {} })
    takeOver(response, {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => taken.length).toBe(1)
  await once(taken[0]!, 'close')
  expect(feed.size).toBe(0)
  // One frame at a time waits for a reader, not the whole state.
  expect(taken[0]!.writableLength).toBeLessThan(2 * 1024 * 1024)
  socket.destroy()
  feed.close()
  server.close()
})

it('limits the streams of one user, and serves others', async () => {
  const feed = createEdgeFeed(states, { followersPerUserMax: 2, followersMax: 3 })
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => responses.push(response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const port = (server.address() as AddressInfo).port
  const sockets = [1, 2, 3].map(() => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => responses.length).toBe(3)
  const follow = async (id: number, response: ServerResponse) =>
    (await feed.follow({ authenticate: async () => actor(id), have: {} }))(response, {})
  await follow(1, responses[0]!)
  await follow(1, responses[1]!)
  await expect(feed.follow({ authenticate: async () => actor(1), have: {} })).rejects.toMatchObject({
    kind: 'throttled',
    retryAfterSeconds: 30,
  })
  await follow(2, responses[2]!)
  await expect(feed.follow({ authenticate: async () => actor(3), have: {} })).rejects.toMatchObject({
    kind: 'throttled',
  })
  for (const socket of sockets) socket.destroy()
  feed.close()
  server.close()
})

it('sends a change that arrives while the earlier state is read', async () => {
  const stateOf = (json: string) => projectState('p', new Map([['flag/1', documentOf('flag/1', json)]]))
  let stored = stateOf('"before"')
  let notify: (id: number | undefined) => void = () => {}
  let isFirst = true
  const feed = createEdgeFeed({
    ...states,
    async find() {
      const read = stored
      if (isFirst) {
        isFirst = false
        stored = stateOf('"after"')
        notify(1)
      }
      return read
    },
    onChange(listener) {
      notify = listener
      return () => {}
    },
  })
  expect(await receivedUntil(feed, 'after')).toContain('before')
})

it('sends a project that becomes visible while the edge connects', async () => {
  const listeners = new Set<(id: number | undefined) => void>()
  let visible = [1]
  const feed = createEdgeFeed({
    ...states,
    async visibleTo() {
      const read = visible
      if (visible.length === 1) {
        visible = [1, 2]
        for (const listener of listeners) listener(undefined)
      }
      return read
    },
    find: async id => projectState(`project-${id}`, new Map()),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  expect(await receivedUntil(feed, 'project-2')).toContain('project-1')
})

/** What an edge receives until the text appears. */
async function receivedUntil(feed: EdgeFeed, text: string): Promise<string> {
  const server = createServer(async (_request, response) => {
    const takeOver = await feed.follow({ authenticate: async () => actor(1), have: {} })
    takeOver(response, {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  let received = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    received += chunk
    if (received.includes(text)) break
  }
  feed.close()
  server.close()
  return received
}
