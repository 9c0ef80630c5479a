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
  count: number
}

const targets = new Map<string, Target>()

process.on('message', async (command: LoadCommand) => {
  if ('plan' in command) {
    const { id, port, connections, pauseMilliseconds, plan } = command
    targets.set(id, { next: requestsOf(plan), port, connections, pauseMilliseconds, count: 0 })
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
      runConnection(target, until, (latency, status, bytes) => {
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

/** Runs one connection until the time is up, for at least one request. */
function runConnection(target: Target, until: number, onResponse: OnResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let status = ''
    let remaining = -1
    let size = 0
    const send = () => {
      if (sentAt > 0 && performance.now() >= until) {
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
      if (remaining < 0) {
        // The response head always arrives in one chunk.
        const end = chunk.indexOf('\r\n\r\n')
        if (end < 0) throw new Error('The head of a response arrived in several chunks.')
        const head = chunk.toString('latin1', 0, end)
        status = head.slice(9, 12)
        size = bodyBytes(head)
        remaining = size - (chunk.length - end - 4)
      } else remaining -= chunk.length
      if (remaining > 0) return
      onResponse(performance.now() - sentAt, status, size)
      remaining = -1
      if (target.pauseMilliseconds > 0) setTimeout(send, target.pauseMilliseconds)
      else send()
    })
  })
}

function bodyBytes(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) return Number(length[1])
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('The load generator does not support chunked responses.')
  return 0
}
