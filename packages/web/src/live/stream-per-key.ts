import { type ChangeMessage, type Frame, followChangeStream } from './change-stream.ts'

type Listener = (message: ChangeMessage) => void

interface SharedStream {
  readonly listeners: Set<Listener>
  readonly stop: () => void
  /** The last frames, oldest first, each with its position. They begin with the position that the stream began at. */
  readonly recent: Frame[]
}

/** For tabs that open while the stream is shared already. */
const recentMax = 200

/** One stream per API key, shared by all subscribers; it closes with the last one. */
export function createStreams(follow: typeof followChangeStream = followChangeStream) {
  const streams = new Map<string, SharedStream>()

  function begin(key: string, after: string | undefined): SharedStream {
    const end = new AbortController()
    const stream: SharedStream = {
      listeners: new Set(),
      stop: () => end.abort(),
      recent: after === undefined ? [] : [{ position: after }],
    }
    streams.set(key, stream)
    follow(key, after, end.signal, frame => {
      const { message, position } = frame
      if (message?.kind === 'refused') streams.delete(key)
      if (message?.kind === 'open') stream.recent.length = 0
      if (position !== undefined) stream.recent.push(frame)
      if (stream.recent.length > recentMax) stream.recent.shift()
      if (message) for (const listener of stream.listeners) listener(message)
    })
    return stream
  }

  /** Delivers `resume` and every change after a position, or `open` when the position is not known. Returns the unsubscribe function. */
  return function listen(key: string, after: string | undefined, listener: Listener): () => void {
    const shared = streams.get(key)
    const stream = shared ?? begin(key, after)
    stream.listeners.add(listener)
    if (shared) catchUp(shared, after, listener)
    return () => {
      stream.listeners.delete(listener)
      if (stream.listeners.size > 0) return
      stream.stop()
      if (streams.get(key) === stream) streams.delete(key)
    }
  }
}

function catchUp({ recent }: SharedStream, after: string | undefined, listener: Listener): void {
  const lastDelivered = recent.findLastIndex(({ position }) => after !== undefined && position === after)
  listener({ kind: lastDelivered === -1 ? 'open' : 'resume' })
  if (lastDelivered === -1) return
  for (const { message } of recent.slice(lastDelivered + 1)) if (message?.kind === 'change') listener(message)
}
