import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNodeServers, type NodeServers } from '../http/server/node-server.ts'
import { bodyIn, responseHead } from './fast-response.ts'

const head = responseHead(200, { 'content-type': 'text/plain', 'x-path': 'fast' })

const times: Record<string, number> = { '*': 20_000, '+': 3000 }
/** The operating system takes no response of this length at once. */
const unsendable = `${'long '.repeat(200)}*`

/** Echoes: what is posted to `/fast` on the fast path, everything else through `node:http`. `*` stands for a long response, `+` for a shorter one. */
let servers: NodeServers
let server: Server
let port: number
let accepted: Socket[]
beforeEach(async () => {
  const long = (text: string): Buffer => Buffer.from(text.repeat(times[text.at(-1)!] ?? 1))
  servers = createNodeServers({
    accepts: ({ url }) => url === '/fast',
    respond: (_head, { bytes, from, to }, memory) => ({
      head,
      requestId: 'id-1',
      ...bodyIn(memory, long(bytes.toString('utf8', from, to))),
    }),
  })
  accepted = []
  server = servers.create((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => response.end(long(Buffer.concat(chunks).toString())))
  })
  server.prependListener('connection', (socket: Socket) => accepted.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.close()
  for (const socket of accepted) socket.destroy()
})

const post = (path: string, body: string, ...fields: string[]): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields.map(field => `${field}\r\n`).join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

interface Response {
  readonly path: 'fast' | 'http'
  readonly body: string
}

/** A connection whose responses are read as they arrive. */
function open(): { socket: Socket; responses: Response[] } {
  const socket = connect(port, '127.0.0.1')
  const responses: Response[] = []
  let rest = Buffer.alloc(0)
  socket.on('data', chunk => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      const fields = rest.toString('latin1', 0, Math.max(end, 0))
      const to = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(fields)?.[1])
      if (end < 0 || rest.length < to) return
      responses.push({ path: /x-path/.test(fields) ? 'fast' : 'http', body: rest.toString('utf8', end + 4, to) })
      rest = rest.subarray(to)
    }
  })
  return { socket, responses }
}

const paths = (responses: readonly Response[]): string => responses.map(({ path }) => path).join(' ')

describe('connections on the fast path', () => {
  it('respond as Node does', async () => {
    const { socket } = open()
    const text = new Promise<string>(resolve => socket.once('data', data => resolve(data.toString())))
    socket.write(post('/fast', 'ü'))
    expect(await text).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\nx-path: fast\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\nx-request-id: id-1\r\ncontent-length: 2\r\n\r\nü$/,
    )
    socket.destroy()
  })

  it('answer in order, and belong to Node from the first unusual request on', async () => {
    const { socket, responses } = open()
    socket.write(['/fast', '/fast', '/other', '/fast'].map((path, n) => post(path, `${path} ${n}`)).join(''))
    await expect.poll(() => responses.length).toBe(4)
    expect(responses.map(({ body }) => body)).toEqual(['/fast 0', '/fast 1', '/other 2', '/fast 3'])
    expect(paths(responses)).toBe('fast fast http http')
    socket.destroy()
  })

  it('serve others between the pipelined requests of one client', async () => {
    const [greedy, modest] = [open(), open()]
    await Promise.all([once(greedy.socket, 'connect'), once(modest.socket, 'connect')])
    greedy.socket.write(Array.from({ length: 5000 }, (_, n) => post('/fast', String(n))).join(''))
    modest.socket.write(post('/fast', 'one'))
    await once(modest.socket, 'data')
    expect(greedy.responses.length).toBeLessThan(5000)
    await expect.poll(() => greedy.responses.length).toBe(5000)
    expect(greedy.responses.map(({ body }) => Number(body))).toEqual(Array.from({ length: 5000 }, (_, n) => n))
    greedy.socket.destroy()
    modest.socket.destroy()
  })

  it('accept a request in two chunks, wherever it is cut', async () => {
    const text = post('/fast', 'some text')
    for (let cut = 1; cut < text.length; cut += 7) {
      const { socket, responses } = open()
      socket.write(text.slice(0, cut))
      await expect.poll(() => accepted.at(-1)?.bytesRead, { interval: 1 }).toBe(cut)
      socket.write(text.slice(cut))
      await expect.poll(() => responses.length, { interval: 1 }).toBe(1)
      expect(responses[0]!.body).toBe('some text')
      socket.destroy()
      await once(accepted.pop()!, 'close')
    }
  })

  it('leave bodies that arrive slowly to Node', async () => {
    const text = post('/fast', 'some text')
    const dribbling = open()
    for (const [from, to] of [
      [0, -5],
      [-5, -3],
    ] as const) {
      dribbling.socket.write(text.slice(from, to))
      await expect.poll(() => accepted[0]?.bytesRead, { interval: 1 }).toBe(text.length + to)
    }
    dribbling.socket.write(text.slice(-3))
    await expect.poll(() => paths(dribbling.responses)).toBe('http')

    const dawdling = open()
    dawdling.socket.write(text.slice(0, -3))
    await expect.poll(() => accepted[1]?.timeout).toBe(server.timeout)
    dawdling.socket.write(text.slice(-3))
    await expect.poll(() => paths(dawdling.responses)).toBe('http')
    expect([dribbling, dawdling].map(({ responses }) => responses[0]!.body)).toEqual(['some text', 'some text'])
    dribbling.socket.destroy()
    dawdling.socket.destroy()
  })

  it('never mix unread responses of slow readers with responses to others', async () => {
    const slow = open()
    slow.socket.pause()
    const asked = Array.from({ length: 60 }, (_, n) => `slow ${n} *`)
    slow.socket.write(asked.map(text => post('/fast', text)).join(''))
    await expect.poll(() => accepted[0]?.isPaused()).toBe(true)
    const quick = open()
    for (let n = 0; n < 20; n++) {
      quick.socket.write(post('/fast', `quick ${n} *`))
      await expect.poll(() => quick.responses.length, { interval: 1 }).toBe(n + 1)
      expect(quick.responses[n]!.body).toBe(`quick ${n} *`.repeat(20_000))
    }
    slow.socket.resume()
    await expect.poll(() => slow.responses.length).toBe(asked.length)
    for (const [n, text] of asked.entries()) expect(slow.responses[n]!.body === text.repeat(20_000)).toBe(true)
    expect(new Set(slow.responses.map(({ path }) => path))).toEqual(new Set(['fast']))
    slow.socket.destroy()
    quick.socket.destroy()
  })

  it('continue with a slow reader once it has read', async () => {
    const { socket, responses } = open()
    socket.pause()
    const asked = Array.from({ length: 800 }, (_, n) => `${n}+`)
    socket.write(asked.map(text => post('/fast', text)).join(''))
    const all = asked.reduce((bytes, text) => bytes + text.length * times['+']!, 0)
    // A system that takes all of it at once makes no slow reader.
    await expect.poll(() => accepted.length).toBe(1)
    await expect.poll(() => accepted[0]!.writableLength > 0 || accepted[0]!.bytesWritten > all).toBe(true)
    socket.resume()
    await expect.poll(() => responses.length).toBe(asked.length)
    expect(responses.every(({ body, path }, n) => path === 'fast' && body === asked[n]!.repeat(times['+']!))).toBe(true)
    socket.destroy()
  })

  it('belong to Node only when a slow reader has got all responses', async () => {
    const { socket, responses } = open()
    socket.pause()
    socket.write(post('/fast', unsendable) + post('/other', 'last') + post('/fast', 'after'))
    await expect.poll(() => accepted[0]?.writableLength).toBeGreaterThan(0)
    socket.resume()
    await expect.poll(() => responses.length).toBe(3)
    expect(paths(responses)).toBe('fast http http')
    expect(responses[0]!.body === unsendable.repeat(20_000)).toBe(true)
    expect(responses.slice(1).map(({ body }) => body)).toEqual(['last', 'after'])
    socket.destroy()
  })

  it('read nothing from a client that does not read', async () => {
    const { socket, responses } = open()
    socket.pause()
    const first = post('/fast', unsendable)
    socket.write(first)
    await expect.poll(() => accepted[0]?.writableLength).toBeGreaterThan(0)
    expect(accepted[0]!.isPaused()).toBe(true)
    socket.write(post('/fast', 'next'))
    socket.resume()
    await expect.poll(() => responses.length).toBe(2)
    expect(responses[1]!.body).toBe('next')
    socket.destroy()
  })

  it('wait for the rest of a request while its client has responses to read', async () => {
    const { socket, responses } = open()
    socket.pause()
    const text = post('/fast', 'some text')
    socket.write(post('/fast', 'long *').repeat(40) + text.slice(0, -3))
    await expect.poll(() => accepted[0]?.isPaused()).toBe(true)
    socket.resume()
    await expect.poll(() => responses.length).toBe(40)
    socket.write(text.slice(-3))
    await expect.poll(() => responses.length).toBe(41)
    expect(responses[40]!.body).toBe('some text')
    socket.destroy()
  })

  it('respond to a client that has half-closed, and close', async () => {
    const { socket, responses } = open()
    socket.end(post('/fast', 'farewell'))
    await once(socket, 'close')
    expect(responses).toEqual([{ path: 'fast', body: 'farewell' }])
    const silent = open()
    silent.socket.end()
    await once(silent.socket, 'close')
  })

  it('drop clients that reset the connection', async () => {
    const { socket } = open()
    socket.write(post('/fast', 'some text').slice(0, -3))
    await expect.poll(() => accepted[0]?.bytesRead).toBeGreaterThan(0)
    socket.resetAndDestroy()
    await expect.poll(() => accepted[0]?.destroyed).toBe(true)
  })

  it('close connections that are silent for too long', async () => {
    server.headersTimeout = 50
    await once(open().socket, 'close')
    Object.assign(server, { headersTimeout: 15_000, keepAliveTimeout: 50 })
    const idle = open()
    idle.socket.write(post('/fast', 'once'))
    await once(idle.socket, 'close')
    expect(idle.responses.map(({ body }) => body)).toEqual(['once'])
  })

  it('end when the server closes, unless a request has begun', async () => {
    const idle = open()
    idle.socket.write(post('/fast', 'idle'))
    const busy = open()
    busy.socket.write(post('/fast', 'busy') + post('/fast', 'under way').slice(0, -3))
    await expect.poll(() => idle.responses.length + busy.responses.length).toBe(2)
    servers.beginClosing()
    const closed = once(server, 'close')
    server.close()
    await once(idle.socket, 'close')
    busy.socket.write('way')
    await expect.poll(() => busy.responses.length).toBe(2)
    expect(busy.responses[1]).toEqual({ path: 'http', body: 'under way' })
    busy.socket.end()
    await closed
  })
})
