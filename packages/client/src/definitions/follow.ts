import type { FetchResponse } from '../options.ts'
import { RequestFailed, requestFailed } from '../request-failed.ts'
import type { Settings } from '../settings.ts'
import { backoff, sleep, startTimer } from '../timers.ts'
import { type DefinitionsDocument, InvalidDefinitions, isRecord, readDocument } from './definitions.ts'
import type { DefinitionsChange } from './flag-state.ts'
import { readEvents } from './read-events.ts'

/** What a follower reports. Digests identify content, so that streaming and polling continue where the other one stopped. */
export interface FollowHandlers {
  readonly digest: () => string | undefined
  /** May raise: the definitions are then not in use. */
  readonly onDocument: (document: DefinitionsDocument, digest: string | undefined) => void
  /** May raise, as above. */
  readonly onChange: (change: DefinitionsChange, digest: string | undefined) => void
  /** The server has confirmed that the definitions are current. */
  readonly onContact: () => void
  readonly onResponse: (response: FetchResponse) => void
  /** The server has sent definitions that cannot be used. */
  readonly onInvalid: () => void
  /** The key is not accepted. */
  readonly onRefused: () => void
}

export interface Follower {
  /** Resolves when the follower has stopped. */
  close(): Promise<void>
}

/** A document of ten thousand flags has about ten million characters. */
const documentCharactersMax = 128 * 1024 * 1024
/** The server sends a heartbeat every 20 seconds. */
const silenceMillisecondsMax = 50_000
/** The longest delay of a reconnect that a server can ask for. */
const retryMillisecondsMax = 30_000
/** How long a blocked stream is left alone. */
const blockedMilliseconds = 5 * 60_000

type StreamEnd = 'ended' | 'blocked' | 'failed'

class KeyRefused extends Error {}

export function follow(settings: Settings, updates: 'stream' | 'poll', handlers: FollowHandlers): Follower {
  const closing = new AbortController()
  const { signal } = closing
  /** What the server that ended the stream asked for, so that not all clients reconnect at the same moment. */
  let retryMilliseconds: number | undefined
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
            wait = Math.min(retryMilliseconds ?? backoff(0), retryMillisecondsMax)
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
        if (error instanceof KeyRefused) handlers.onRefused()
        if (error instanceof InvalidDefinitions) handlers.onInvalid()
        const retryAfter = error instanceof RequestFailed ? error.retryAfterMilliseconds : undefined
        wait = Math.max(backoff(failures++), retryAfter ?? 0)
      }
      await sleep(wait, signal)
    }
  }

  const send = async (path: string, headers: Record<string, string>, abort: AbortSignal): Promise<FetchResponse> => {
    const address = `${settings.url}${path}`
    const authorization = { authorization: `Bearer ${settings.key}` }
    const response = await settings.fetch(address, { headers: { ...headers, ...authorization }, signal: abort })
    const { status } = response
    if (status !== 200 && status !== 304) {
      // Read, so that the connection can be used again.
      const text = await response.text().catch(() => '')
      if (status === 401 || status === 403) {
        throw new KeyRefused(`The server at ${settings.url} does not accept the key (${status}).${detailIn(text)}`)
      }
      throw requestFailed(`GET ${address}`, response)
    }
    handlers.onResponse(response)
    return response
  }

  async function stream(): Promise<StreamEnd> {
    const request = openRequest(signal, settings.streamTimeoutMilliseconds)
    const digest = handlers.digest()
    let hasBegun = false
    retryMilliseconds = undefined
    const onBytes = () => {
      hasBegun = true
      request.extend(silenceMillisecondsMax)
    }
    try {
      const path = `/api/projects/@current/feature_flags/stream/${settings.query && `?${settings.query}`}`
      const resume: Record<string, string> = digest === undefined ? {} : { 'last-event-id': digest }
      const response = await send(path, { accept: 'text/event-stream', ...resume }, request.signal)
      const body = response.body as ReadableStream<Uint8Array> | null
      if (body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) return 'blocked'
      for await (const received of readEvents(body, { onBytes, charactersMax: documentCharactersMax })) {
        const { event, id, data } = received
        if (data !== undefined) receive(event, data, id)
        retryMilliseconds = received.retryMilliseconds ?? retryMilliseconds
        handlers.onContact()
      }
      return hasBegun ? 'ended' : 'blocked'
    } catch (error) {
      if (error instanceof KeyRefused) throw error
      if (hasBegun && !(error instanceof InvalidDefinitions)) return 'ended'
      if (request.signal.aborted && !signal.aborted) return 'blocked'
      if (!signal.aborted) settings.report(error)
      return 'failed'
    } finally {
      request.close()
    }
  }

  function receive(event: string, data: string, id: string | undefined): void {
    const value = parseJson(data)
    if (event === 'state') use(() => handlers.onDocument(readDocument(value), id))
    else if (event === 'change' && isRecord(value) && Array.isArray(value.flags) && Array.isArray(value.removed)) {
      // Polling then gets everything: applied to other definitions, the change would hide that one is missing.
      if (value.from !== undefined && value.from !== handlers.digest()) {
        throw new InvalidDefinitions('The stream sent a change of definitions that this client does not have.')
      }
      const { flags, removed } = value
      use(() => handlers.onChange({ flags, removed }, id))
    }
  }

  async function poll(): Promise<void> {
    const request = openRequest(signal, settings.requestTimeoutMilliseconds)
    try {
      const digest = handlers.digest()
      const conditions: Record<string, string> = digest === undefined ? {} : { 'if-none-match': `W/"${digest}"` }
      const path = `/flags/definitions?send_cohorts=true${settings.query && `&${settings.query}`}`
      const response = await send(path, conditions, request.signal)
      if (response.status === 200) {
        const value = parseJson(await response.text())
        use(() => handlers.onDocument(readDocument(value), digestIn(response.headers.get('etag'))))
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

/** A request that ends with this signal, and after a time without progress. */
function openRequest(signal: AbortSignal, milliseconds: number) {
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new InvalidDefinitions('The definitions are not JSON.', { cause: error })
  }
}

/** Whatever is wrong with definitions, they are not used. */
function use(apply: () => void): void {
  try {
    apply()
  } catch (error) {
    if (error instanceof InvalidDefinitions) throw error
    throw new InvalidDefinitions(`The definitions cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

/** What the server says about a request that failed. */
function detailIn(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    return typeof detail === 'string' ? ` ${detail}` : ''
  } catch {
    return ''
  }
}

/** The ETag of the definitions is their digest, as the stream has it. */
const digestIn = (etag: string | null): string | undefined => /^(?:W\/)?"(.+)"$/.exec(etag ?? '')?.[1]
