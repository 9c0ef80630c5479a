import {
  ErrorCode,
  type EvaluationContext,
  type FlagMetadata,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  type ResolutionDetails,
  StandardResolutionReasons,
  type TrackingEventDetails,
} from '@openfeature/web-sdk'
import { type FlagSnapshot, fetchSnapshot, isRecord, OfrepFailure, type OfrepFlag } from './ofrep.ts'
import { contextText, createSnapshotStore, type SnapshotStorage, type SnapshotStore } from './snapshot-store.ts'

export interface HalyardWebProviderOptions {
  /** The address of the server, such as `https://flags.example.com`. */
  readonly url: string
  /** The project token, `phc_…`. It is public. */
  readonly token: string
  /** Values that a server has evaluated for the same context; see `evaluateFlags`. The first render uses them. */
  readonly initial?: FlagSnapshot
  /** Where values are kept between visits. Default: `localStorage`; `null` for nowhere. */
  readonly storage?: SnapshotStorage | null
  /** Whether changes are received as they happen. Default: true. */
  readonly stream?: boolean
  /** Values for development, which the server accepts only when they are signed; see `@halyard/openfeature-web/toolbar`. */
  readonly overrides?: OverrideSource
}

/** Where the overrides of this browser come from. */
export interface OverrideSource {
  readonly token: string | undefined
  onChange(listener: () => void): () => void
  /** Called with a token that the server does not accept. */
  forget?(token: string): void
}

type Kind = 'boolean' | 'string' | 'number' | 'object'

const retryMillisecondsFirst = 1_000
const retryMillisecondsMax = 60_000

/**
 * Flags for browsers. The server evaluates them, so that targeting rules stay there. Values of the last visit are in use at once and are
 * refreshed in the background; an event stream announces changes, so that nothing is polled.
 */
export class HalyardWebProvider implements Provider {
  readonly metadata = { name: 'halyard-web' } as const
  readonly runsOn = 'client'
  readonly events = new OpenFeatureEventEmitter()
  readonly #options: HalyardWebProviderOptions
  readonly #store: SnapshotStore
  #context: EvaluationContext = {}
  #flags: ReadonlyMap<string, OfrepFlag> = new Map()
  #snapshot: FlagSnapshot | undefined
  #isFromCache = false
  #source: EventSource | undefined
  #sourceUrl: string | undefined
  #request: AbortController | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #reopen: ReturnType<typeof setTimeout> | undefined
  #streamFailures = 0
  #isStale = false
  #isClosed = false
  #unsubscribe: (() => void) | undefined

  constructor(options: HalyardWebProviderOptions) {
    this.#options = options
    const storage = options.storage === undefined ? browserStorage() : (options.storage ?? undefined)
    this.#store = createSnapshotStore(storage, options.url, options.token)
    // Usable before `initialize`, for a first render that cannot wait.
    if (options.initial !== undefined) this.#use(options.initial, false)
  }

  async initialize(context: EvaluationContext = {}): Promise<void> {
    this.#context = context
    const cached = this.#options.initial ?? this.#store.read(context)
    browser.document?.addEventListener('visibilitychange', this.#onVisible)
    this.#unsubscribe?.()
    this.#unsubscribe = this.#options.overrides?.onChange(() => void this.#refresh())
    if (cached !== undefined) {
      this.#use(cached, this.#options.initial === undefined)
      void this.#refresh()
      return
    }
    await this.#load()
  }

  async onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> {
    this.#context = context
    this.#snapshot = undefined
    const cached = this.#store.read(context)
    if (cached !== undefined) this.#use(cached, true)
    try {
      await this.#load()
    } catch (error) {
      // The values of the former context are not those of the new one.
      if (this.#snapshot === undefined) this.#flags = new Map()
      throw error
    }
  }

  async onClose(): Promise<void> {
    this.#isClosed = true
    this.#source?.close()
    this.#request?.abort()
    clearTimeout(this.#retry)
    clearTimeout(this.#reopen)
    this.#unsubscribe?.()
    browser.document?.removeEventListener('visibilitychange', this.#onVisible)
  }

  resolveBooleanEvaluation(key: string, fallback: boolean): ResolutionDetails<boolean> {
    return this.#resolve('boolean', key, fallback)
  }

  resolveStringEvaluation(key: string, fallback: string): ResolutionDetails<string> {
    return this.#resolve('string', key, fallback)
  }

  resolveNumberEvaluation(key: string, fallback: number): ResolutionDetails<number> {
    return this.#resolve('number', key, fallback)
  }

  resolveObjectEvaluation<T extends JsonValue>(key: string, fallback: T): ResolutionDetails<T> {
    return this.#resolve('object', key, fallback)
  }

  track(event: string, context: EvaluationContext, properties: TrackingEventDetails): void {
    const { targetingKey } = context
    if (targetingKey === undefined) return
    const { url, token } = this.#options
    const body = JSON.stringify({ api_key: token, event, distinct_id: targetingKey, properties })
    // `keepalive` lets the request outlive the page.
    fetch(`${url.replace(/\/+$/, '')}/capture/`, { method: 'POST', body, keepalive: true }).catch(() => {})
  }

  readonly #onVisible = () => {
    if (browser.document?.visibilityState === 'visible') void this.#refresh()
  }

  /** Rejects when there are no values: the SDK then uses the defaults in the code. */
  async #load(): Promise<void> {
    try {
      await this.#fetch()
    } catch (error) {
      if (this.#isClosed || isAbort(error)) return
      if (error instanceof OfrepFailure && (error.status === 401 || error.status === 403)) {
        throw new ProviderFatalError(error.message)
      }
      this.#retryLater(error)
      if (this.#snapshot === undefined) throw error
    }
  }

  /** Never rejects: the values in use stay. */
  async #refresh(): Promise<void> {
    try {
      await this.#fetch()
      if (this.#isStale) this.events.emit(ProviderEvents.Ready)
      this.#isStale = false
    } catch (error) {
      if (this.#isClosed || isAbort(error)) return
      if (!this.#isStale) this.events.emit(ProviderEvents.Stale, { message: 'There is no contact to the server.' })
      this.#isStale = true
      this.#retryLater(error)
    }
  }

  #retryLater(error: unknown): void {
    clearTimeout(this.#retry)
    const asked = error instanceof OfrepFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0
    this.#retry = setTimeout(() => void this.#refresh(), Math.max(asked, backoff(this.#failures++)))
  }

  /** The newest request wins: an older one may be about another context. */
  async #fetch(): Promise<void> {
    this.#request?.abort()
    const request = new AbortController()
    this.#request = request
    const context = this.#context
    const { url, token } = this.#options
    const overrides = this.#options.overrides?.token
    const etag = this.#snapshot?.etag
    const fetched = await fetchSnapshot({ url, token, context, etag, overrides, signal: request.signal })
    if (this.#isClosed || request.signal.aborted) return
    if (overrides !== undefined && fetched?.areOverridesInvalid) this.#options.overrides?.forget?.(overrides)
    this.#failures = 0
    this.#isFromCache = false
    if (fetched !== undefined) {
      const before = this.#snapshot === undefined ? undefined : this.#flags
      this.#use(fetched, false)
      // The next visit must not start with values that no longer apply.
      if (overrides === undefined) this.#store.write(context, fetched)
      const flagsChanged = before === undefined ? [] : changedKeys(before, this.#flags)
      if (flagsChanged.length > 0) this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged })
    }
    this.#follow()
  }

  #use(snapshot: FlagSnapshot, isFromCache: boolean): void {
    this.#snapshot = snapshot
    this.#isFromCache = isFromCache
    this.#flags = new Map(snapshot.flags.map(flag => [flag.key, flag]))
  }

  #follow(): void {
    const address = this.#snapshot?.streams[0]
    if (this.#options.stream === false || typeof EventSource === 'undefined' || this.#isClosed) return
    if (address === undefined || address === this.#sourceUrl) return
    this.#source?.close()
    clearTimeout(this.#reopen)
    this.#sourceUrl = address
    // A server that evaluated the first values may have used another address of Halyard than browsers do.
    const source = new EventSource(address.startsWith('/') ? this.#options.url.replace(/\/+$/, '') + address : address)
    this.#source = source
    source.onmessage = ({ data }) => {
      if (isRefetch(data)) void this.#refresh()
    }
    // What changed before the stream was open, the first time or again, is announced by no event.
    source.onopen = () => {
      this.#streamFailures = 0
      void this.#refresh()
    }
    // Browsers reconnect, after the delay that a stopping server asks for, unless they received an error: from a proxy during a deploy, for example.
    source.onerror = () => {
      if (this.#source !== source || source.readyState !== EventSource.CLOSED) return
      this.#sourceUrl = undefined
      this.#reopen = setTimeout(() => void this.#refresh(), backoff(this.#streamFailures++))
    }
  }

  #resolve<T>(kind: Kind, key: string, fallback: T): ResolutionDetails<T> {
    const flag = this.#flags.get(key)
    if (flag === undefined) {
      const code = this.#snapshot === undefined ? ErrorCode.PROVIDER_NOT_READY : ErrorCode.FLAG_NOT_FOUND
      return failure(fallback, code, 'There is no flag with this key.')
    }
    if (flag.errorCode !== undefined) {
      const code = flag.errorCode in ErrorCode ? (flag.errorCode as ErrorCode) : ErrorCode.GENERAL
      return failure(fallback, code, flag.errorDetails ?? 'The flag could not be evaluated.')
    }
    const value = valueAs(kind, flag)
    if (value === mismatch) {
      return failure(fallback, ErrorCode.TYPE_MISMATCH, `The flag "${key}" has no value of the type ${kind}.`)
    }
    return {
      value: value === undefined ? fallback : (value as T),
      reason: this.#isFromCache ? StandardResolutionReasons.CACHED : reasonOf(flag),
      flagMetadata: this.#metadataOf(flag),
      ...(flag.variant !== undefined && { variant: flag.variant }),
    }
  }

  #metadataOf({ metadata }: OfrepFlag): FlagMetadata {
    const { targetingKey } = this.#context
    return {
      ...this.#snapshot?.metadata,
      ...(targetingKey !== undefined && { contextId: targetingKey }),
      ...(isRecord(metadata) && (metadata as FlagMetadata)),
    }
  }
}

/** With jitter, so that browsers do not return at the same moment. */
const backoff = (failures: number): number =>
  Math.min(retryMillisecondsMax, retryMillisecondsFirst * 2 ** failures) * (0.5 + Math.random() / 2)

const mismatch = Symbol('mismatch')

/** Undefined when the default in the code applies. */
function valueAs(kind: Kind, { value, reason, metadata }: OfrepFlag): unknown {
  if (reason === 'DISABLED') return undefined
  if (kindOf(value) === kind) return value
  if (kind === 'boolean') return value === undefined ? undefined : mismatch
  const payload = payloadOf(metadata?.payload)
  if (kindOf(payload) === kind && (kind !== 'string' || typeof value === 'boolean')) return payload
  // The browser does not know which payloads a flag can have; one that is off has none.
  return value === undefined || (value === false && payload === undefined) ? undefined : mismatch
}

function payloadOf(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === 'object' && value !== null) return 'object'
  return typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number'
    ? (typeof value as Kind)
    : undefined
}

/** OFREP has no word for a value that applies because no targeting matched. */
function reasonOf({ reason = StandardResolutionReasons.UNKNOWN, metadata }: OfrepFlag): string {
  if (reason !== StandardResolutionReasons.UNKNOWN) return reason
  const code = metadata?.reasonCode
  return code === 'no_condition_match' || code === 'condition_match' ? StandardResolutionReasons.DEFAULT : reason
}

function changedKeys(before: ReadonlyMap<string, OfrepFlag>, after: ReadonlyMap<string, OfrepFlag>): string[] {
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys].filter(key => contextText(before.get(key)) !== contextText(after.get(key)))
}

const failure = <T>(value: T, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> => ({
  value,
  reason: StandardResolutionReasons.ERROR,
  errorCode,
  errorMessage,
})

/** Events of other types are for clients that know them. */
function isRefetch(data: unknown): boolean {
  try {
    return (JSON.parse(String(data)) as { type?: unknown }).type === 'refetchEvaluation'
  } catch {
    return false
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

/** The parts of a browser that are used. A server that renders has none of them. */
const browser = globalThis as unknown as {
  readonly document?: {
    readonly visibilityState: string
    addEventListener(name: string, listener: () => void): void
    removeEventListener(name: string, listener: () => void): void
  }
  readonly localStorage?: SnapshotStorage
}

/** Reading it throws where cookies are blocked. */
function browserStorage(): SnapshotStorage | undefined {
  try {
    return browser.localStorage
  } catch {
    return undefined
  }
}
