/** A change notification: what kind of object, where, and its id. */
export interface Change {
  readonly topic: string
  readonly organization: string | null
  readonly project: number | null
  readonly id: string
}

/** A message of the change stream. After `open`, anything read before may be stale; `refused` is final. */
export type ChangeMessage =
  | { readonly kind: 'open' }
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'refused' }

const firstWaitMilliseconds = 500
const waitMillisecondsMax = 10_000
/**
 * The server sends a heartbeat every 20 seconds. A connection that is silent for longer is dead, for example after
 * sleep.
 */
const silenceMillisecondsMax = 45_000

/** Follows the change stream until `signal` aborts, reconnecting with exponential backoff. */
export async function followChangeStream(
  key: string,
  signal: AbortSignal,
  emit: (message: ChangeMessage) => void,
): Promise<void> {
  let waitMilliseconds = firstWaitMilliseconds
  const emitAndResetBackoff = (message: ChangeMessage) => {
    waitMilliseconds = firstWaitMilliseconds
    emit(message)
  }
  while (!signal.aborted) {
    if ((await listenOnce(key, signal, emitAndResetBackoff)) === 'refused') return emit({ kind: 'refused' })
    await pause(waitMilliseconds, signal)
    waitMilliseconds = Math.min(waitMillisecondsMax, waitMilliseconds * 2)
  }
}

async function listenOnce(
  key: string,
  signal: AbortSignal,
  emit: (message: ChangeMessage) => void,
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
    const headers = { authorization: `Bearer ${key}` }
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
  emit: (message: ChangeMessage) => void,
) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    resetSilenceTimer()
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const message = readFrame(frame)
      if (message) emit(message)
    }
  }
}

export function readFrame(frame: string): ChangeMessage | undefined {
  const fields = new Map(frame.split('\n').map(line => line.split(/: (.*)/s, 2) as [string, string]))
  const data = fields.get('data')
  if (data === undefined) return undefined
  return fields.get('event') === 'open' ? { kind: 'open' } : { kind: 'change', change: JSON.parse(data) as Change }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
