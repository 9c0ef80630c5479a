import {
  ErrorCode,
  type EvaluationContext,
  type Hook,
  type JsonValue,
  type Logger,
  OpenFeatureEventEmitter,
  type Provider,
  type ResolutionDetails,
  type TrackingEventDetails,
} from '@openfeature/server-sdk'
import { type ShadowComparison, ShadowReporter, type ShadowReporterOptions } from './shadow-reporter.ts'

export interface ShadowProviderOptions {
  /** The provider in use. It decides when the shadow provider is ready. */
  readonly current: Provider
  /** The provider to compare with, usually Halyard's. Its failures affect no evaluation. */
  readonly candidate: Provider
  /** Whose value the application gets. Default: `current`. */
  readonly returns?: 'current' | 'candidate'
  /** Where agreements and differences are counted. */
  readonly report: ShadowReporterOptions
}

/** Comparisons that may wait for the other provider; further evaluations are not compared. */
const pendingMax = 1000

/** Evaluates with two providers, returns the value of one and counts how often both agree. */
export class ShadowProvider implements Provider {
  readonly metadata: { readonly name: string }
  readonly runsOn = 'server'
  readonly events: NonNullable<Provider['events']>
  readonly hooks: Hook[]
  readonly reporter: ShadowReporter
  readonly #current: Provider
  readonly #candidate: Provider
  readonly #returnsCandidate: boolean
  readonly #pending = new Set<Promise<void>>()
  #isCandidateReady = false

  constructor({ current, candidate, returns = 'current', report }: ShadowProviderOptions) {
    this.metadata = { name: `shadow of ${current.metadata.name} and ${candidate.metadata.name}` }
    this.#current = current
    this.#candidate = candidate
    this.#returnsCandidate = returns === 'candidate'
    const returned = this.#returnsCandidate ? candidate : current
    this.events = returned.events ?? new OpenFeatureEventEmitter()
    this.hooks = returned.hooks ?? []
    this.reporter = new ShadowReporter(report)
  }

  async initialize(context?: EvaluationContext): Promise<void> {
    const isReady = (async () => {
      await this.#candidate.initialize?.(context)
      this.#isCandidateReady = true
    })()
    await this.#current.initialize?.(context)
    if (this.#returnsCandidate) await isReady
    // Until the other provider is ready, evaluations are not compared.
    else isReady.catch(error => this.reporter.fail(error))
  }

  async onClose(): Promise<void> {
    await Promise.allSettled(this.#pending)
    await this.reporter.close()
    await Promise.allSettled([this.#current.onClose?.(), this.#candidate.onClose?.()])
  }

  resolveBooleanEvaluation(key: string, fallback: boolean, context: EvaluationContext, logger: Logger) {
    return this.#resolve(key, context, provider => provider.resolveBooleanEvaluation(key, fallback, context, logger))
  }

  resolveStringEvaluation(key: string, fallback: string, context: EvaluationContext, logger: Logger) {
    return this.#resolve(key, context, provider => provider.resolveStringEvaluation(key, fallback, context, logger))
  }

  resolveNumberEvaluation(key: string, fallback: number, context: EvaluationContext, logger: Logger) {
    return this.#resolve(key, context, provider => provider.resolveNumberEvaluation(key, fallback, context, logger))
  }

  resolveObjectEvaluation<T extends JsonValue>(
    key: string,
    fallback: T,
    context: EvaluationContext,
    logger: Logger,
  ): Promise<ResolutionDetails<T>> {
    return this.#resolve(key, context, provider => provider.resolveObjectEvaluation(key, fallback, context, logger))
  }

  track(name: string, context: EvaluationContext, details: TrackingEventDetails): void {
    this.#current.track?.(name, context, details)
    this.#candidate.track?.(name, context, details)
  }

  async #resolve<T>(
    key: string,
    context: EvaluationContext,
    evaluate: (provider: Provider) => Promise<ResolutionDetails<T>>,
  ): Promise<ResolutionDetails<T>> {
    const [returned, other] = this.#returnsCandidate
      ? [this.#candidate, this.#current]
      : [this.#current, this.#candidate]
    const details = await evaluate(returned)
    if (this.#isCandidateReady && this.#pending.size < pendingMax && details.errorCode === undefined) {
      const work = this.#compare(key, context, details, () => evaluate(other)).finally(() => this.#pending.delete(work))
      this.#pending.add(work)
    }
    return details
  }

  /** Never rejects, and the application does not wait for it. */
  async #compare<T>(
    key: string,
    { targetingKey = '' }: EvaluationContext,
    returned: ResolutionDetails<T>,
    evaluateOther: () => Promise<ResolutionDetails<T>>,
  ): Promise<void> {
    try {
      const other = await evaluateOther()
      const [there, here] = this.#returnsCandidate ? [other, returned] : [returned, other]
      // Where the provider in use has no value, there is nothing to compare.
      if (there.errorCode !== undefined) return
      const isFailed = here.errorCode !== undefined && failures.has(here.errorCode)
      this.reporter.count({ key, targetingKey, there: there.value, here: valueOrError(here), isFailed })
    } catch (error) {
      this.reporter.fail(error)
      if (this.#returnsCandidate) return
      const here = { error: ErrorCode.GENERAL }
      this.reporter.count({ key, targetingKey, there: returned.value, here, isFailed: true })
    }
  }
}

/** Errors that pass. The others are about the flag or the context, and the next evaluation has them too. */
const failures: ReadonlySet<string> = new Set([
  ErrorCode.GENERAL,
  ErrorCode.PROVIDER_NOT_READY,
  ErrorCode.PROVIDER_FATAL,
])

const valueOrError = ({ value, errorCode }: ResolutionDetails<unknown>): ShadowComparison['here'] =>
  errorCode === undefined ? value : { error: errorCode }
