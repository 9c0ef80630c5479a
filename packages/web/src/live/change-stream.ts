/** A change notification: what kind of object, where, and its id. Ephemeral ones come without a position. */
export interface Change {
  readonly topic: string
  readonly organization: string | null
  readonly project: number | null
  readonly id: string
}

/**
 * A message of the change stream. After `open`, anything read before may be stale; after `resume`, every change since the last
 * position follows, except ephemeral ones; `refused` is final.
 */
export type ChangeMessage =
  | { readonly kind: 'open' | 'resume' }
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'refused' }

/** A message, and the position in the stream after it. A heartbeat has only that. The last frame of a server that stops says when to reconnect. */
export interface Frame {
  readonly message?: ChangeMessage
  readonly position?: string
  readonly retryMilliseconds?: number
}

const firstWaitMilliseconds = 500
const waitMillisecondsMax = 10_000
/**
 * The server sends a heartbeat every 20 seconds. A connection that is silent for longer is dead, for example after
 * sleep.
 */
const silenceMillisecondsMax = 45_000

/** Follows the change stream after a position until `signal` aborts, reconnecting with exponential backoff. */
export async function followChangeStream(
  key: string,
  after: string | undefined,
  signal: AbortSignal,
  emit: (frame: Frame) => void,
): Promise<void> {
  let waitMilliseconds = firstWaitMilliseconds
  let position = after
  const emitAndResetBackoff = (frame: Frame) => {
    waitMilliseconds = Math.min(frame.retryMilliseconds ?? firstWaitMilliseconds, waitMillisecondsMax)
    position = frame.position ?? position
    emit(frame)
  }
  while (!signal.aborted) {
    if ((await listenOnce(key, position, signal, emitAndResetBackoff)) === 'refused') {
      return emit({ message: { kind: 'refused' } })
    }
    await pause(waitMilliseconds, signal)
    waitMilliseconds = Math.min(waitMillisecondsMax, waitMilliseconds * 2)
  }
}

async function listenOnce(
  key: string,
  position: string | undefined,
  signal: AbortSignal,
  emit: (frame: Frame) => void,
): Promise<'lost' | 'refused'> {
  const watch = new AbortController()
  const stop = () => watch.abort()
  signal.addEventListener('abort', stop)
  let silenceTimer: ReturnType<typeof setTimeout> | undefined
  const resetSilenceTimer = () => {
    clearTimeout(silenceTimer)
    silenceTimer = setTimeout(stop, silenceMillisecondsMax)
  }
  try {
    resetSilenceTimer()
    const headers = { authorization: `Bearer ${key}`, ...(position !== undefined && { 'last-event-id': position }) }
    const response = await fetch('/api/changes/stream/', { headers, signal: watch.signal, cache: 'no-store' })
    if (response.status === 401 || response.status === 403) return 'refused'
    if (!response.ok || !response.body) return 'lost'
    await readFrames(response.body, resetSilenceTimer, emit)
  } catch {
    // Whatever the reason, the next attempt shows whether the server is reachable.
  } finally {
    clearTimeout(silenceTimer)
    signal.removeEventListener('abort', stop)
  }
  return 'lost'
}

async function readFrames(
  body: ReadableStream<Uint8Array>,
  resetSilenceTimer: () => void,
  emit: (frame: Frame) => void,
) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    resetSilenceTimer()
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) emit(readFrame(frame))
  }
}

export function readFrame(text: string): Frame {
  const fields = new Map(text.split('\n').map(line => line.split(/: (.*)/s, 2) as [string, string]))
  const [id, event, data, retry] = ['id', 'event', 'data', 'retry'].map(name => fields.get(name))
  const position = id === undefined ? {} : { position: id }
  if (retry !== undefined && /^\d+$/.test(retry)) return { retryMilliseconds: Number(retry) }
  if (data === undefined) return position
  if (event === 'open' || event === 'resume') return { message: { kind: event }, ...position }
  return { message: { kind: 'change', change: JSON.parse(data) as Change }, ...position }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
