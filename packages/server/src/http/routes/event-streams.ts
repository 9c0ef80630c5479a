import type { ServerResponse } from 'node:http'
import { Problem } from '../../problem.ts'
import { drainStreams, endForReconnect, lastOnConnection } from './end-streams.ts'

/** Server-sent events: one or several frames, ready to be written. As bytes, which all readers share until the slowest has read them. */
export type Frame = Buffer

export interface FrameFields {
  readonly event?: string
  readonly id?: string
  readonly data: string
}

/** JSON never holds a line break, so one `data` line is enough. */
export const frameOf = ({ data, ...fields }: FrameFields): string => `${frameHead(fields)}${data}${frameEnd}`

/** What stands before and after the data. */
export const frameHead = ({ event, id }: Omit<FrameFields, 'data'>): string =>
  `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: `
export const frameEnd = '\n\n'

/** The open streams of this node, by topic. An idle one costs its socket and a place in a set. */
export interface EventStreams {
  /** Opens a stream and writes the first frames, if there are any. Raises `throttled` when the project or the node has too many. */
  open(
    projectId: number,
    topic: string,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    first: Frame | undefined,
  ): void
  /** Writes to all streams of a topic. A reader that does not keep up is disconnected; it reconnects and resumes. */
  send(topic: string, frame: Frame): void
  /** The same for a frame that makes every reader send a request: many readers get it spread over up to a second, and only the latest one. */
  sendPaced(topic: string, frame: Frame): void
  has(topic: string): boolean
  readonly size: number
  /** Ends them spread out, and each one that is opened from now on at once, with a delay after which its client reconnects. */
  drain(): Promise<void>
  /** Ends them all. */
  close(): void
}

export interface EventStreamLimits {
  readonly streamsMax: number
  readonly streamsPerProjectMax: number
  /** What may lie unread for one reader. */
  readonly unreadBytesMax: number
  readonly heartbeatMilliseconds: number
}

const usualLimits: EventStreamLimits = {
  streamsMax: 50_000,
  streamsPerProjectMax: 20_000,
  unreadBytesMax: 1024 * 1024,
  heartbeatMilliseconds: 20_000,
}

export const eventStreamType = 'text/event-stream; charset=utf-8'

const streamHeaders = {
  ...lastOnConnection,
  'content-type': eventStreamType,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const tooMany = (why: string): Problem =>
  new Problem('throttled', `Too many streams are open. ${why}`, { retryAfterSeconds: 30 })

/** So many readers, or a hundredth of them, are notified at once. */
const pacedReadersMin = 100
const pacedRoundsMax = 100
const pacedRoundMilliseconds = 10

const heartbeat = Buffer.from(': still here\n\n')

export function createEventStreams(limits: Partial<EventStreamLimits> = {}): EventStreams {
  const { streamsMax, streamsPerProjectMax, unreadBytesMax, heartbeatMilliseconds } = { ...usualLimits, ...limits }
  const topics = new Map<string, Set<ServerResponse>>()
  const ofProject = new Map<number, number>()
  /** Paced frames that are under way, by topic, with the readers that do not have them yet. */
  const paced = new Map<string, { frame: Frame; readonly readers: Set<ServerResponse> }>()
  let size = 0
  let isDraining = false

  function write(response: ServerResponse, frame: Frame): void {
    if (response.writableEnded) return
    // A first frame may be larger than what may lie unread; what counts is that nothing is piled on top of it.
    if (response.writableLength > unreadBytesMax) {
      response.destroy()
      return
    }
    response.write(frame)
    // Node would wait for the end of the tick, which sends the response of the write that caused this first.
    response.socket?.uncork()
  }

  function leave(projectId: number, topic: string, response: ServerResponse): void {
    const streams = topics.get(topic)
    if (!streams?.delete(response)) return
    paced.get(topic)?.readers.delete(response)
    size -= 1
    if (streams.size === 0) topics.delete(topic)
    const left = (ofProject.get(projectId) ?? 1) - 1
    if (left === 0) ofProject.delete(projectId)
    else ofProject.set(projectId, left)
  }

  function sendNextRound(topic: string): void {
    const sending = paced.get(topic)!
    const { readers } = sending
    let left = Math.max(pacedReadersMin, Math.ceil((topics.get(topic)?.size ?? 0) / pacedRoundsMax))
    for (const response of readers) {
      if (left-- === 0) break
      readers.delete(response)
      write(response, sending.frame)
    }
    if (readers.size === 0) paced.delete(topic)
    else setTimeout(sendNextRound, pacedRoundMilliseconds, topic)
  }

  const all = () => [...topics.values()].flatMap(streams => [...streams])

  const beat = setInterval(() => {
    for (const streams of topics.values()) for (const response of streams) write(response, heartbeat)
  }, heartbeatMilliseconds)
  beat.unref()

  return {
    open(projectId, topic, response, headers, first) {
      const inProject = ofProject.get(projectId) ?? 0
      const streams = topics.get(topic) ?? new Set()
      // Refused with an error, browsers would not try again.
      if (isDraining) {
        response.writeHead(200, { ...headers, ...streamHeaders })
        if (first) response.write(first)
        return endForReconnect(response)
      }
      if (size >= streamsMax) throw tooMany(`This server keeps at most ${streamsMax} streams (HALYARD_STREAMS_MAX).`)
      if (inProject >= streamsPerProjectMax)
        throw tooMany(`A project may have at most ${streamsPerProjectMax} streams (HALYARD_STREAMS_PER_PROJECT_MAX).`)
      topics.set(topic, streams.add(response))
      size += 1
      ofProject.set(projectId, inProject + 1)
      response.on('close', () => leave(projectId, topic, response))
      response.on('error', () => leave(projectId, topic, response))
      response.writeHead(200, { ...headers, ...streamHeaders })
      response.write(first ?? heartbeat)
    },
    send(topic, frame) {
      for (const response of topics.get(topic) ?? []) write(response, frame)
    },
    sendPaced(topic, frame) {
      const underWay = paced.get(topic)
      // Those that wait for an earlier frame stay first.
      for (const response of topics.get(topic) ?? []) underWay?.readers.add(response)
      if (underWay) underWay.frame = frame
      else {
        paced.set(topic, { frame, readers: new Set(topics.get(topic)) })
        sendNextRound(topic)
      }
    },
    has: topic => topics.has(topic),
    get size() {
      return size
    },
    drain() {
      isDraining = true
      return drainStreams(all())
    },
    close() {
      isDraining = true
      clearInterval(beat)
      for (const response of all()) endForReconnect(response, size)
    },
  }
}
