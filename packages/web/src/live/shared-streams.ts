import { followChangeStream, type Word } from './change-stream.ts'

type Listener = (word: Word) => void

interface Followed {
  readonly listeners: Set<Listener>
  readonly stop: () => void
  isOpen: boolean
}

/** One stream per API key, shared by all subscribers; it closes with the last one. */
export function createStreams() {
  const streams = new Map<string, Followed>()

  function begin(key: string): Followed {
    const end = new AbortController()
    const followed: Followed = { listeners: new Set(), stop: () => end.abort(), isOpen: false }
    streams.set(key, followed)
    followChangeStream(key, end.signal, word => {
      if (word.kind === 'open') followed.isOpen = true
      if (word.kind === 'refused') streams.delete(key)
      for (const listener of followed.listeners) listener(word)
    })
    return followed
  }

  /** Returns the unsubscribe function. */
  return function listen(key: string, listener: Listener): () => void {
    const followed = streams.get(key) ?? begin(key)
    followed.listeners.add(listener)
    // A late subscriber has missed earlier messages.
    if (followed.isOpen) listener({ kind: 'open' })
    return () => {
      followed.listeners.delete(listener)
      if (followed.listeners.size > 0) return
      followed.stop()
      if (streams.get(key) === followed) streams.delete(key)
    }
  }
}
