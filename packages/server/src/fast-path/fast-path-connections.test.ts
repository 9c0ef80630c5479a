import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNodeServers, type NodeServers } from '../http/server/node-server.ts'
import { bodyFrom, responseHead } from './fast-response.ts'
import { createResponseBuffer } from './response-buffer.ts'

const head = responseHead(200, ['content-type', 'text/plain', 'x-lane', 'plain'])

const times: Record<string, number> = { '*': 20_000, '+': 3000 }

/** Echoes: what is posted to `/plain` without `node:http`, everything else with it. `*` stands for a long answer, `+` for a shorter one. */
let servers: NodeServers
let server: Server
let port: number
let accepted: Socket[]
beforeEach(async () => {
  const room = createResponseBuffer()
  const long = (text: string): Buffer => Buffer.from(text.repeat(times[text.at(-1)!] ?? 1))
  servers = createNodeServers(undefined, {
    room,
    answer: ({ url }, bytes, from, to) =>
      url === '/plain' ? { head, ...bodyFrom(room, long(bytes.toString('utf8', from, to))) } : undefined,
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

interface Answer {
  readonly lane: 'plain' | 'http'
  readonly body: string
}

/** A connection whose answers are read as they come. */
function open(): { socket: Socket; answers: Answer[] } {
  const socket = connect(port, '127.0.0.1')
  const answers: Answer[] = []
  let rest = Buffer.alloc(0)
  socket.on('data', chunk => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      const fields = rest.toString('latin1', 0, Math.max(end, 0))
      const to = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(fields)?.[1])
      if (end < 0 || rest.length < to) return
      answers.push({ lane: /x-lane/.test(fields) ? 'plain' : 'http', body: rest.toString('utf8', end + 4, to) })
      rest = rest.subarray(to)
    }
  })
  return { socket, answers }
}

const lanes = (answers: readonly Answer[]): string => answers.map(({ lane }) => lane).join(' ')

describe('plain connections', () => {
  it('answer as Node does', async () => {
    const { socket } = open()
    const text = new Promise<string>(resolve => socket.once('data', data => resolve(data.toString())))
    socket.write(post('/plain', 'ü'))
    expect(await text).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\nx-lane: plain\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\ncontent-length: 2\r\n\r\nü$/,
    )
    socket.destroy()
  })

  it('answer in order, whoever answers, and belong to Node from the first unusual request on', async () => {
    const { socket, answers } = open()
    socket.write(['/plain', '/plain', '/other', '/plain'].map((path, n) => post(path, `${path} ${n}`)).join(''))
    await expect.poll(() => answers.length).toBe(4)
    expect(answers.map(({ body }) => body)).toEqual(['/plain 0', '/plain 1', '/other 2', '/plain 3'])
    expect(lanes(answers)).toBe('plain plain http http')
    socket.destroy()
  })

  it('take turns with a client that asks for very much at once', async () => {
    const [greedy, modest] = [open(), open()]
    await Promise.all([once(greedy.socket, 'connect'), once(modest.socket, 'connect')])
    greedy.socket.write(Array.from({ length: 5000 }, (_, n) => post('/plain', String(n))).join(''))
    modest.socket.write(post('/plain', 'one'))
    await once(modest.socket, 'data')
    expect(greedy.answers.length).toBeLessThan(5000)
    await expect.poll(() => greedy.answers.length).toBe(5000)
    expect(greedy.answers.map(({ body }) => Number(body))).toEqual(Array.from({ length: 5000 }, (_, n) => n))
    greedy.socket.destroy()
    modest.socket.destroy()
  })

  it('take a request in two pieces, wherever it is cut', async () => {
    const text = post('/plain', 'some text')
    for (let cut = 1; cut < text.length; cut += 7) {
      const { socket, answers } = open()
      socket.write(text.slice(0, cut))
      await expect.poll(() => accepted.at(-1)?.bytesRead, { interval: 1 }).toBe(cut)
      socket.write(text.slice(cut))
      await expect.poll(() => answers.length, { interval: 1 }).toBe(1)
      expect(answers[0]!.body).toBe('some text')
      socket.destroy()
      await once(accepted.pop()!, 'close')
    }
  })

  it('leave bodies that dribble or dawdle to Node', async () => {
    const text = post('/plain', 'some text')
    const dribbling = open()
    for (const [from, to] of [
      [0, -5],
      [-5, -3],
    ] as const) {
      dribbling.socket.write(text.slice(from, to))
      await expect.poll(() => accepted[0]?.bytesRead, { interval: 1 }).toBe(text.length + to)
    }
    dribbling.socket.write(text.slice(-3))
    await expect.poll(() => lanes(dribbling.answers)).toBe('http')

    const dawdling = open()
    dawdling.socket.write(text.slice(0, -3))
    await expect.poll(() => accepted[1]?.timeout).toBe(server.timeout)
    dawdling.socket.write(text.slice(-3))
    await expect.poll(() => lanes(dawdling.answers)).toBe('http')
    expect([dribbling, dawdling].map(({ answers }) => answers[0]!.body)).toEqual(['some text', 'some text'])
    dribbling.socket.destroy()
    dawdling.socket.destroy()
  })

  it('keep apart what slow readers have not read from what others are answered', async () => {
    const slow = open()
    slow.socket.pause()
    const asked = Array.from({ length: 60 }, (_, n) => `slow ${n} *`)
    slow.socket.write(asked.map(text => post('/plain', text)).join(''))
    await expect.poll(() => accepted[0]?.isPaused()).toBe(true)
    const quick = open()
    for (let n = 0; n < 20; n++) {
      quick.socket.write(post('/plain', `quick ${n} *`))
      await expect.poll(() => quick.answers.length, { interval: 1 }).toBe(n + 1)
      expect(quick.answers[n]!.body).toBe(`quick ${n} *`.repeat(20_000))
    }
    slow.socket.resume()
    await expect.poll(() => slow.answers.length).toBe(asked.length)
    for (const [n, text] of asked.entries()) expect(slow.answers[n]!.body === text.repeat(20_000)).toBe(true)
    expect(new Set(slow.answers.map(({ lane }) => lane))).toEqual(new Set(['plain']))
    slow.socket.destroy()
    quick.socket.destroy()
  })

  it('go on with a slow reader of short answers once it has read', async () => {
    const { socket, answers } = open()
    socket.pause()
    const asked = Array.from({ length: 800 }, (_, n) => `${n}+`)
    socket.write(asked.map(text => post('/plain', text)).join(''))
    const all = asked.reduce((bytes, text) => bytes + text.length * times['+']!, 0)
    // A system that takes all of it at once makes no slow reader.
    await expect.poll(() => accepted.length).toBe(1)
    await expect.poll(() => accepted[0]!.writableLength > 0 || accepted[0]!.bytesWritten > all).toBe(true)
    socket.resume()
    await expect.poll(() => answers.length).toBe(asked.length)
    expect(answers.every(({ body, lane }, n) => lane === 'plain' && body === asked[n]!.repeat(times['+']!))).toBe(true)
    socket.destroy()
  })

  it('answer a client that has said its last, and close', async () => {
    const { socket, answers } = open()
    socket.end(post('/plain', 'farewell'))
    await once(socket, 'close')
    expect(answers).toEqual([{ lane: 'plain', body: 'farewell' }])
    const silent = open()
    silent.socket.end()
    await once(silent.socket, 'close')
  })

  it('forget clients that break off', async () => {
    const { socket } = open()
    socket.write(post('/plain', 'some text').slice(0, -3))
    await expect.poll(() => accepted[0]?.bytesRead).toBeGreaterThan(0)
    socket.resetAndDestroy()
    await expect.poll(() => accepted[0]?.destroyed).toBe(true)
  })

  it('hang up on those who say nothing for too long', async () => {
    server.headersTimeout = 50
    await once(open().socket, 'close')
    Object.assign(server, { headersTimeout: 15_000, keepAliveTimeout: 50 })
    const idle = open()
    idle.socket.write(post('/plain', 'once'))
    await once(idle.socket, 'close')
    expect(idle.answers.map(({ body }) => body)).toEqual(['once'])
  })

  it('end when the server closes, unless something is under way', async () => {
    const idle = open()
    idle.socket.write(post('/plain', 'idle'))
    const busy = open()
    busy.socket.write(post('/plain', 'busy') + post('/plain', 'under way').slice(0, -3))
    await expect.poll(() => idle.answers.length + busy.answers.length).toBe(2)
    servers.beginClosing()
    const closed = once(server, 'close')
    server.close()
    await once(idle.socket, 'close')
    busy.socket.write('way')
    await expect.poll(() => busy.answers.length).toBe(2)
    expect(busy.answers[1]).toEqual({ lane: 'http', body: 'under way' })
    busy.socket.end()
    await closed
  })
})
