/** A server-sent event. Without data it is a heartbeat, or only says after how long to reconnect when the stream ends. */
export interface ServerSentEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: string | undefined
  readonly retryMilliseconds: number | undefined
}

/** Reads a stream of server-sent events. `onBytes` is called for everything that arrives, also for parts of events. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { onBytes, charactersMax }: { readonly onBytes: () => void; readonly charactersMax: number },
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  /** Chunks of the frame that is not complete yet: a large one arrives in thousands of them. */
  let chunks: string[] = []
  let characters = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      const text = decoder.decode(value, { stream: true })
      chunks.push(text)
      characters += text.length
      if (characters > charactersMax) throw new Error(`An event is longer than ${charactersMax} characters.`)
      const last = chunks.length > 1 ? `${chunks.at(-2)!.slice(-1)}${text}` : text
      if (!last.includes('\n\n')) continue
      const frames = chunks.join('').split('\n\n')
      const rest = frames.pop()!
      chunks = rest === '' ? [] : [rest]
      characters = rest.length
      for (const frame of frames) yield parseFrame(frame)
    }
  } finally {
    // Not awaited: the connection may be gone.
    reader.cancel().catch(() => {})
  }
}

/** Comments are heartbeats: frames without data. */
function parseFrame(frame: string): ServerSentEvent {
  let [event, id, data]: [string, string | undefined, string | undefined] = ['message', undefined, undefined]
  let retryMilliseconds: number | undefined
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    const name = line.slice(0, colon)
    if (name === 'event') event = value
    else if (name === 'id') id = value
    else if (name === 'retry' && /^\d+$/.test(value)) retryMilliseconds = Number(value)
    else if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
  }
  return { event, id, data, retryMilliseconds }
}
