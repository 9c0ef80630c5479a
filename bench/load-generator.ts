import { connect, type Socket } from 'node:net'
import { type RequestPlan, requestsOf } from './requests.ts'

/** Asks over raw sockets, one request at a time on each, so that it costs far less than what it measures. */
export type LoadOrder =
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
  /** By status. */
  readonly statuses: Readonly<Record<string, number>>
  /** Of the last answer's body. */
  readonly answerBytes: number
}

interface Target {
  readonly next: (n: number) => Buffer
  readonly port: number
  readonly connections: number
  readonly pauseMilliseconds: number
  count: number
}

const targets = new Map<string, Target>()

process.on('message', async (order: LoadOrder) => {
  if ('plan' in order) {
    const { id, port, connections, pauseMilliseconds, plan } = order
    targets.set(id, { next: requestsOf(plan), port, connections, pauseMilliseconds, count: 0 })
    process.send?.({ ready: id })
  } else {
    process.send?.(await run(targets.get(order.run)!, order.milliseconds))
  }
})

// Goes with the one who gives the orders.
process.on('disconnect', () => process.exit())

async function run(target: Target, milliseconds: number): Promise<Load> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  let answerBytes = 0
  const begun = performance.now()
  const until = begun + milliseconds
  await Promise.all(
    Array.from({ length: target.connections }, () =>
      converse(target, until, (latency, status, bytes) => {
        latencies.push(latency)
        statuses[status] = (statuses[status] ?? 0) + 1
        answerBytes = bytes
      }),
    ),
  )
  const seconds = (performance.now() - begun) / 1000
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  const requests = latencies.length
  return { perSecond: requests / seconds, requests, seconds, p50: at(0.5), p99: at(0.99), statuses, answerBytes }
}

type OnAnswer = (milliseconds: number, status: string, bodyBytes: number) => void

/** One connection, for one request at least and until the time is up. */
function converse(target: Target, until: number, onAnswer: OnAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true })
    let asked = 0
    let status = ''
    let missing = -1
    let size = 0
    const ask = () => {
      if (asked > 0 && performance.now() >= until) {
        socket.destroy()
        resolve()
        return
      }
      asked = performance.now()
      socket.write(target.next(target.count++))
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', chunk => {
      if (missing < 0) {
        // An answer's head comes whole, in the first piece.
        const end = chunk.indexOf('\r\n\r\n')
        if (end < 0) throw new Error('The head of an answer came in pieces.')
        const head = chunk.toString('latin1', 0, end)
        status = head.slice(9, 12)
        size = bodyBytes(head)
        missing = size - (chunk.length - end - 4)
      } else missing -= chunk.length
      if (missing > 0) return
      onAnswer(performance.now() - asked, status, size)
      missing = -1
      if (target.pauseMilliseconds > 0) setTimeout(ask, target.pauseMilliseconds)
      else ask()
    })
  })
}

function bodyBytes(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) return Number(length[1])
  if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('The load generator reads answers of a known length only.')
  return 0
}
