import { type DefinitionsDocument, isRecord, readDocument } from './definitions.ts'
import type { DefinitionsChange } from './flag-state.ts'
import type { FetchResponse, Settings } from './options.ts'
import { readEvents } from './read-events.ts'
import { backoff, sleep, startTimer } from './timers.ts'

/** What a follower reports. Digests identify content, so that streaming and polling continue where the other one stopped. */
export interface FollowHandlers {
  readonly digest: () => string | undefined
  readonly onDocument: (document: DefinitionsDocument, digest: string | undefined) => void
  readonly onChange: (change: DefinitionsChange, digest: string | undefined) => void
  /** The server has confirmed that the definitions are current. */
  readonly onContact: () => void
  readonly onResponse: (response: FetchResponse) => void
  /** The key is not accepted. */
  readonly onRefused: (status: number) => void
}

export interface Follower {
  /** Resolves when the follower has stopped. */
  close(): Promise<void>
}

/** A document of ten thousand flags has about ten million characters. */
const documentCharactersMax = 128 * 1024 * 1024
/** The server sends a heartbeat every 20 seconds. */
const silenceMillisecondsMax = 50_000
/** How long a blocked stream is left alone. */
const blockedMilliseconds = 5 * 60_000

type StreamEnd = 'ended' | 'blocked' | 'failed'

class RequestFailed extends Error {
  readonly retryAfterMilliseconds: number | undefined

  constructor(message: string, retryAfterMilliseconds?: number) {
    super(message)
    this.name = 'RequestFailed'
    this.retryAfterMilliseconds = retryAfterMilliseconds
  }
}

export function follow(settings: Settings, updates: 'stream' | 'poll', handlers: FollowHandlers): Follower {
  const closing = new AbortController()
  const { signal } = closing
  let streamAt = updates === 'stream' ? 0 : Number.POSITIVE_INFINITY

  async function run(): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      let wait = settings.pollMilliseconds
      try {
        if (Date.now() >= streamAt) {
          const end = await stream()
          if (signal.aborted) return
          if (end === 'blocked') streamAt = Date.now() + blockedMilliseconds
          if (end === 'ended') {
            failures = 0
            wait = backoff(0)
          } else {
            await poll()
            wait = end === 'blocked' ? settings.pollMilliseconds : backoff(failures++)
          }
        } else {
          await poll()
          failures = 0
        }
      } catch (error) {
        if (signal.aborted) return
        settings.report(error)
        const asked = error instanceof RequestFailed ? error.retryAfterMilliseconds : undefined
        wait = Math.max(backoff(failures++), asked ?? 0)
      }
      await sleep(wait, signal)
    }
  }

  /** A request that ends with the follower, and after a time without progress. */
  function openRequest(milliseconds: number) {
    const controller = new AbortController()
    const abort = () => controller.abort()
    let cancel = startTimer(abort, milliseconds)
    signal.addEventListener('abort', abort)
    return {
      signal: controller.signal,
      /** Restarts the time. */
      extend(next: number) {
        cancel()
        cancel = startTimer(abort, next)
      },
      close() {
        cancel()
        signal.removeEventListener('abort', abort)
        controller.abort()
      },
    }
  }

  const send = async (path: string, headers: Record<string, string>, abort: AbortSignal): Promise<FetchResponse> => {
    const address = `${settings.url}${path}`
    const authorization = { authorization: `Bearer ${settings.key}` }
    const response = await settings.fetch(address, { headers: { ...headers, ...authorization }, signal: abort })
    if (response.status === 401 || response.status === 403) handlers.onRefused(response.status)
    if (response.status !== 200 && response.status !== 304) {
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
      // Read, so that the connection can be used again.
      await response.text().catch(() => '')
      const wait = seconds > 0 && seconds < 3600 ? seconds * 1000 : undefined
      throw new RequestFailed(`GET ${path} returned ${response.status}.`, wait)
    }
    handlers.onResponse(response)
    return response
  }

  async function stream(): Promise<StreamEnd> {
    const request = openRequest(settings.streamTimeoutMilliseconds)
    const digest = handlers.digest()
    let hasBegun = false
    const onBytes = () => {
      hasBegun = true
      request.extend(silenceMillisecondsMax)
      handlers.onContact()
    }
    try {
      const path = `/api/projects/@current/feature_flags/stream/${settings.query && `?${settings.query}`}`
      const resume: Record<string, string> = digest === undefined ? {} : { 'last-event-id': digest }
      const response = await send(path, { accept: 'text/event-stream', ...resume }, request.signal)
      const body = response.body as ReadableStream<Uint8Array> | null
      if (body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) return 'blocked'
      for await (const { event, id, data } of readEvents(body, { onBytes, charactersMax: documentCharactersMax })) {
        receive(event, data, id)
        handlers.onContact()
      }
      return hasBegun ? 'ended' : 'blocked'
    } catch (error) {
      if (hasBegun && !(error instanceof SyntaxError)) return 'ended'
      if (request.signal.aborted && !signal.aborted) return 'blocked'
      if (!signal.aborted) settings.report(error)
      return 'failed'
    } finally {
      request.close()
    }
  }

  function receive(event: string, data: string, id: string | undefined): void {
    const value: unknown = JSON.parse(data)
    if (event === 'state') {
      const document = readDocument(value)
      if (document === undefined) throw new SyntaxError('The stream sent a state without flags.')
      handlers.onDocument(document, id)
    } else if (event === 'change' && isRecord(value) && Array.isArray(value.flags) && Array.isArray(value.removed)) {
      // Polling then gets everything: applied to other definitions, the change would hide that one is missing.
      if (value.from !== undefined && value.from !== handlers.digest()) {
        throw new SyntaxError('The stream sent a change of definitions that this client does not have.')
      }
      handlers.onChange({ flags: value.flags, removed: value.removed }, id)
    }
  }

  async function poll(): Promise<void> {
    const request = openRequest(settings.requestTimeoutMilliseconds)
    try {
      const digest = handlers.digest()
      const known: Record<string, string> = digest === undefined ? {} : { 'if-none-match': `W/"${digest}"` }
      const path = `/flags/definitions?send_cohorts=true${settings.query && `&${settings.query}`}`
      const response = await send(path, known, request.signal)
      if (response.status === 200) {
        const document = readDocument(JSON.parse(await response.text()))
        if (document === undefined) throw new Error('The definitions have no flags.')
        handlers.onDocument(document, digestIn(response.headers.get('etag')))
      }
      handlers.onContact()
    } finally {
      request.close()
    }
  }

  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

/** The ETag of the definitions is their digest, as the stream has it. */
const digestIn = (etag: string | null): string | undefined => /^(?:W\/)?"(.+)"$/.exec(etag ?? '')?.[1]
