import { type ClientOptions, createClient, type Evaluation, type HalyardClient } from '@halyard/client'
import {
  ErrorCode,
  type EvaluationContext,
  type FlagMetadata,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  ProviderNotReadyError,
  type ResolutionDetails,
  StandardResolutionReasons,
  type TrackingEventDetails,
} from '@openfeature/server-sdk'
import { halyardContext } from './halyard-context.ts'

export interface HalyardProviderOptions {
  /** How long `initialize` waits for definitions. Default: 10,000 milliseconds. */
  readonly initializationTimeoutMilliseconds?: number
}

/** What the caller's code asks for. */
type Kind = 'boolean' | 'string' | 'number' | 'object'

/** Evaluates Halyard's flags in process. Definitions arrive in the background, so that an evaluation makes no request. */
export class HalyardProvider implements Provider {
  readonly metadata = { name: 'halyard' } as const
  readonly runsOn = 'server'
  readonly events = new OpenFeatureEventEmitter()
  /** For what OpenFeature has no words, such as all flags of a person. */
  readonly client: HalyardClient
  readonly #ownsClient: boolean
  readonly #timeoutMilliseconds: number
  #stopListening: readonly (() => void)[] = []

  /** Given a client, which may be shared, the provider does not close it. */
  constructor(source: ClientOptions | HalyardClient, options: HalyardProviderOptions = {}) {
    this.#ownsClient = !isClient(source)
    this.client = isClient(source) ? source : createClient(source)
    this.#timeoutMilliseconds = options.initializationTimeoutMilliseconds ?? 10_000
  }

  async initialize(): Promise<void> {
    const isReady = await this.client.ready({ timeoutMilliseconds: this.#timeoutMilliseconds })
    // Definitions that arrive later make the provider ready after all.
    this.#listen()
    if (isReady) return
    if (this.client.status === 'refused') throw new ProviderFatalError('The server does not accept the key.')
    throw new ProviderNotReadyError('The definitions did not arrive in time; the client keeps trying.')
  }

  #listen(): void {
    if (this.#stopListening.length > 0) return
    const { client, events } = this
    let wasStale = client.status !== 'ready' && client.status !== 'cached'
    this.#stopListening = [
      client.on('change', flagsChanged => {
        events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged: [...flagsChanged] })
      }),
      client.on('status', status => {
        if (status === 'stale') {
          wasStale = true
          events.emit(ProviderEvents.Stale, {
            message: 'The definitions may be out of date: there is no contact to the server, or it sent invalid ones.',
          })
        } else if (status === 'ready' && wasStale) {
          wasStale = false
          events.emit(ProviderEvents.Ready)
        } else if (status === 'refused') {
          wasStale = true
          events.emit(ProviderEvents.Error, { message: 'The server does not accept the key.' })
        }
      }),
    ]
  }

  async onClose(): Promise<void> {
    for (const stop of this.#stopListening) stop()
    this.#stopListening = []
    if (this.#ownsClient) await this.client.close()
    else await this.client.flush()
  }

  async resolveBooleanEvaluation(key: string, fallback: boolean, context: EvaluationContext) {
    return this.#resolve('boolean', key, fallback, context)
  }

  async resolveStringEvaluation(key: string, fallback: string, context: EvaluationContext) {
    return this.#resolve('string', key, fallback, context)
  }

  async resolveNumberEvaluation(key: string, fallback: number, context: EvaluationContext) {
    return this.#resolve('number', key, fallback, context)
  }

  async resolveObjectEvaluation<T extends JsonValue>(key: string, fallback: T, context: EvaluationContext) {
    return this.#resolve('object', key, fallback, context)
  }

  track(name: string, context: EvaluationContext, details: TrackingEventDetails): void {
    const subject = halyardContext(context)
    if (subject !== undefined) this.client.track(name, subject, details)
  }

  async #resolve<T>(kind: Kind, key: string, fallback: T, context: EvaluationContext): Promise<ResolutionDetails<T>> {
    const subject = halyardContext(context)
    if (subject === undefined) {
      return failure(fallback, ErrorCode.TARGETING_KEY_MISSING, 'The context has no targetingKey.')
    }
    const evaluation = await this.client.evaluate(key, subject)
    const flagMetadata = metadataOf(evaluation, this.client.projectId, subject.distinctId)
    const { openFeature, reason } = evaluation
    if (openFeature.reason === 'ERROR') {
      return {
        ...failure(fallback, errorCodes[reason.code] ?? ErrorCode.GENERAL, `${reason.description}.`),
        flagMetadata,
      }
    }
    const details = {
      reason: openFeature.reason,
      flagMetadata,
      ...(openFeature.variant !== undefined && { variant: openFeature.variant }),
    }
    const value = this.#valueOf(kind, evaluation)
    if (value === mismatch) {
      return failure(fallback, ErrorCode.TYPE_MISMATCH, `The flag "${key}" has no value of the type ${kind}.`)
    }
    return { value: value === undefined ? fallback : (value as T), ...details }
  }

  /** Undefined when the default in the code applies. */
  #valueOf(kind: Kind, { key, payload, openFeature: { value, reason } }: Evaluation): unknown {
    if (reason === 'DISABLED') return undefined
    if (kindOf(value) === kind) return value
    if (kind === 'boolean') return value === undefined ? undefined : mismatch
    if (kindOf(payload) === kind && (kind !== 'string' || typeof value === 'boolean')) return payload
    if (kind === 'string' && value === undefined) return undefined
    // A flag that is off has no payload; its type is that of the payloads that it can have.
    const isOfKind = this.client.payloadsOf(key)?.some(each => kindOf(each) === kind) ?? false
    return payload === undefined && isOfKind ? undefined : mismatch
  }
}

const mismatch = Symbol('mismatch')

const errorCodes: Partial<Record<Evaluation['reason']['code'], ErrorCode>> = {
  flag_not_found: ErrorCode.FLAG_NOT_FOUND,
  not_ready: ErrorCode.PROVIDER_NOT_READY,
  targeting_key_missing: ErrorCode.TARGETING_KEY_MISSING,
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === 'object' && value !== null) return 'object'
  return typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number'
    ? (typeof value as Kind)
    : undefined
}

const failure = <T>(value: T, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> => ({
  value,
  reason: StandardResolutionReasons.ERROR,
  errorCode,
  errorMessage,
})

function metadataOf(evaluation: Evaluation, projectId: number | undefined, contextId: string): FlagMetadata {
  const { flagId, version, reason, payloadText, source } = evaluation
  return {
    contextId,
    reasonCode: reason.code,
    source,
    ...(projectId !== undefined && { flagSetId: String(projectId) }),
    ...(flagId !== undefined && { flagId }),
    ...(version !== undefined && { version }),
    ...(payloadText !== null && { payload: payloadText }),
  }
}

const isClient = (source: ClientOptions | HalyardClient): source is HalyardClient => 'evaluateLocally' in source
