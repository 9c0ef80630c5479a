import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** Thousands of open streams from one process. */
export interface StreamCrowd {
  readonly size: number
  /** When each stream received this text (`performance.now()`), or undefined for those that have not after the time. */
  arrivals(text: string, millisecondsMax: number): Promise<readonly (number | undefined)[]>
  /** When each stream ended, and the delay until a reconnect that it was given last. */
  ends(millisecondsMax: number): Promise<readonly StreamEnd[]>
  close(): void
}

export interface StreamEnd {
  readonly at: number | undefined
  readonly retryMilliseconds: number | undefined
}

interface Member {
  socket: Socket
  arrivedAt: number | undefined
  endedAt: number | undefined
  retryMilliseconds: number | undefined
}

const openAtOnceMax = 100
/** A source address has about 28,000 ports for connections to one address and port. */
const streamsPerAddress = 20_000
const pollMilliseconds = 20
const refusedMilliseconds = 1000
/** What the process opens besides streams. */
const spareFiles = 200

/** How many streams a process can open at most; what is missing is a matter of `ulimit -n`. */
export function streamsMax(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit) - spareFiles
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

export async function openCrowd(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  count: number,
): Promise<StreamCrowd> {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n${fields.join('')}\r\n`
  const members: Member[] = []
  let wanted: Buffer | undefined

  /** Returns false when the server refused it because too much happens at once. */
  function open(index: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const localAddress = `127.0.0.${2 + Math.floor(index / streamsPerAddress)}`
      const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
      const member: Member = { socket, arrivedAt: undefined, endedAt: undefined, retryMilliseconds: undefined }
      let isOpen = false
      socket.on('connect', () => socket.write(request))
      socket.on('error', reject)
      socket.on('close', () => {
        member.endedAt = performance.now()
      })
      socket.on('data', chunk => {
        if (!isOpen) {
          isOpen = true
          const head = chunk.toString('latin1', 0, 300)
          if (head.startsWith('HTTP/1.1 503')) return resolve(false)
          if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(`No stream: ${head}`))
          members.push(member)
          return resolve(true)
        }
        if (wanted !== undefined && member.arrivedAt === undefined && chunk.includes(wanted)) {
          member.arrivedAt = performance.now()
        }
        const retry = /\nretry: (\d+)\n/.exec(chunk.length < 1000 ? chunk.toString('latin1') : '')?.[1]
        if (retry !== undefined) member.retryMilliseconds = Number(retry)
      })
    })
  }

  async function until(isDone: (member: Member) => boolean, millisecondsMax: number): Promise<void> {
    const end = performance.now() + millisecondsMax
    while (performance.now() < end && !members.every(isDone)) {
      await new Promise(resolve => setTimeout(resolve, pollMilliseconds))
    }
  }

  let next = 0
  const openSome = async () => {
    while (next < count) {
      const index = next++
      while (!(await open(index))) await new Promise(resolve => setTimeout(resolve, refusedMilliseconds))
    }
  }
  await Promise.all(Array.from({ length: openAtOnceMax }, openSome))
  return {
    size: members.length,
    async arrivals(text, millisecondsMax) {
      wanted = Buffer.from(text)
      for (const member of members) member.arrivedAt = undefined
      await until(({ arrivedAt }) => arrivedAt !== undefined, millisecondsMax)
      return members.map(({ arrivedAt }) => arrivedAt)
    },
    async ends(millisecondsMax) {
      await until(({ endedAt }) => endedAt !== undefined, millisecondsMax)
      return members.map(({ endedAt, retryMilliseconds }) => ({ at: endedAt, retryMilliseconds }))
    },
    close() {
      for (const { socket } of members) socket.destroy()
    },
  }
}
