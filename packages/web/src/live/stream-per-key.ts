import { type ChangeMessage, followChangeStream } from './change-stream.ts'

type Listener = (message: ChangeMessage) => void

interface SharedStream {
  readonly listeners: Set<Listener>
  readonly stop: () => void
  isOpen: boolean
}

/** One stream per API key, shared by all subscribers; it closes with the last one. */
export function createStreams() {
  const streams = new Map<string, SharedStream>()

  function begin(key: string): SharedStream {
    const end = new AbortController()
    const stream: SharedStream = { listeners: new Set(), stop: () => end.abort(), isOpen: false }
    streams.set(key, stream)
    followChangeStream(key, end.signal, message => {
      if (message.kind === 'open') stream.isOpen = true
      if (message.kind === 'refused') streams.delete(key)
      for (const listener of stream.listeners) listener(message)
    })
    return stream
  }

  /** Returns the unsubscribe function. */
  return function listen(key: string, listener: Listener): () => void {
    const stream = streams.get(key) ?? begin(key)
    stream.listeners.add(listener)
    // A late subscriber has missed earlier messages.
    if (stream.isOpen) listener({ kind: 'open' })
    return () => {
      stream.listeners.delete(listener)
      if (stream.listeners.size > 0) return
      stream.stop()
      if (streams.get(key) === stream) streams.delete(key)
    }
  }
}
