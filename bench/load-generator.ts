import { connect, type Socket } from 'node:net'
import { type RequestPlan, requestsOf } from './requests.ts'

/** Sends requests over raw sockets, one at a time on each, so that the generator costs far less than the server. */
export type LoadCommand =
  | {
      readonly plan: RequestPlan
      readonly id: string
      readonly port: number
      readonly connections: number
      readonly pauseMilliseconds: number
      readonly isNewConnectionEach: boolean
    }
  | { readonly run: string; readonly milliseconds: number }

export interface Load {
  readonly perSecond: number
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Size of the last response body. */
  readonly responseBytes: number
}

interface Target {
  readonly next: (n: number) => Buffer
  readonly port: number
  readonly connections: number
  readonly pauseMilliseconds: number
  readonly isNewConnectionEach: boolean
  count: number
}

const targets = new Map<string, Target>()

process.on('message', async (command: LoadCommand) => {
  if ('plan' in command) {
    const { id, plan, ...target } = command
    targets.set(id, { ...target, next: requestsOf(plan), count: 0 })
    process.send?.({ ready: id })
  } else {
    process.send?.(await run(targets.get(command.run)!, command.milliseconds))
  }
})

// Exits with its parent process.
process.on('disconnect', () => process.exit())

async function run(target: Target, milliseconds: number): Promise<Load> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  let responseBytes = 0
  const startedAt = performance.now()
  const until = startedAt + milliseconds
  await Promise.all(
    Array.from({ length: target.connections }, () =>
      runClient(target, until, (latency, status, bytes) => {
        latencies.push(latency)
        statuses[status] = (statuses[status] ?? 0) + 1
        responseBytes = bytes
      }),
    ),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  const requests = latencies.length
  return { perSecond: requests / seconds, requests, seconds, p50: at(0.5), p99: at(0.99), statuses, responseBytes }
}

type OnResponse = (milliseconds: number, status: string, bodyBytes: number) => void

/** Runs one client until the time is up, for at least one request: on one connection, or on a new one for each request. */
async function runClient(target: Target, until: number, onResponse: OnResponse): Promise<void> {
  do await runConnection(target, until, onResponse)
  while (target.isNewConnectionEach && performance.now() < until)
}

function runConnection(target: Target, until: number, onResponse: OnResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true })
    const openedAt = performance.now()
    let sentAt = 0
    let response: ResponseReader | undefined
    const send = () => {
      if (sentAt > 0 && (target.isNewConnectionEach || performance.now() >= until)) {
        socket.destroy()
        resolve()
        return
      }
      sentAt = performance.now()
      socket.write(target.next(target.count++))
    }
    socket.on('connect', send)
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', chunk => {
      response ??= readHead(chunk)
      if (!response.isComplete(chunk)) return
      const { status, bytes } = response
      response = undefined
      onResponse(performance.now() - (target.isNewConnectionEach ? openedAt : sentAt), status, bytes())
      if (target.pauseMilliseconds > 0) setTimeout(send, target.pauseMilliseconds)
      else send()
    })
  })
}

interface ResponseReader {
  readonly status: string
  /** Counts a chunk of the response. */
  isComplete(chunk: Buffer): boolean
  /** Size of the body. */
  bytes(): number
}

const lastChunk = Buffer.from('0\r\n\r\n')

/** The head of a response always arrives in one chunk. */
function readHead(chunk: Buffer): ResponseReader {
  const end = chunk.indexOf('\r\n\r\n')
  if (end < 0) throw new Error('The head of a response arrived in several chunks.')
  const head = chunk.toString('latin1', 0, end)
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  let received = -(end + 4)
  return {
    status: head.slice(9, 12),
    isComplete(next) {
      received += next.length
      return isChunked ? next.subarray(-lastChunk.length).equals(lastChunk) : received >= length
    },
    bytes: () => received,
  }
}
