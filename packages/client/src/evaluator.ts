import { type CompiledFlag, type Outcome, parsePayload, type Subject } from '@halyard/engine'
import type { CurrentDefinitions } from './definitions/current-definitions.ts'
import { type FlagState, needsStoredPerson } from './definitions/flag-state.ts'
import {
  type Evaluation,
  type EvaluationContext,
  evaluationOf,
  overridesOf,
  subjectOf,
  withoutValue,
} from './evaluation.ts'
import type { Exposures } from './exposures.ts'
import type { ServerEvaluations } from './server-evaluations.ts'

interface Dependencies {
  readonly current: CurrentDefinitions
  /** Undefined where flags that depend on stored persons have no value. */
  readonly storedPersons: ServerEvaluations | undefined
  readonly overrides: ServerEvaluations
  readonly exposures: Exposures | undefined
  /** The time of the server. */
  readonly now: () => number
  readonly report: (error: unknown) => void
}

/** Either the evaluation, or the flag whose value only the server knows. */
type LocalResult = { readonly evaluation: Evaluation } | { readonly unresolved: CompiledFlag }

/** Evaluates in process, and on the server what depends on stored persons and signed overrides. */
export class Evaluator {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Nothing that a caller passes may throw. */
  evaluateLocally(key: string, context: EvaluationContext): Evaluation {
    try {
      const subject = subjectOf(context)
      const { state } = this.#dependencies.current
      if (subject === undefined) return withoutValue(key, 'targeting_key_missing')
      if (state === undefined) return withoutValue(key, 'not_ready')
      const result = this.#evaluateAt(state, key, subject)
      if ('unresolved' in result) return withoutValue(key, 'needs_person', result.unresolved)
      this.#dependencies.exposures?.report(result.evaluation, subject)
      return result.evaluation
    } catch (error) {
      this.#dependencies.report(error)
      return withoutValue(key, 'needs_person')
    }
  }

  async evaluate(key: string, context: EvaluationContext): Promise<Evaluation> {
    const { current, storedPersons, exposures } = this.#dependencies
    const { state } = current
    const overrides = overridesOf(context)
    if (overrides !== undefined && state !== undefined) {
      const subject = subjectOf(context)
      const overridden = subject && (await this.#evaluateOverridden(state, [key], subject, overrides)).get(key)
      // Not exposed: overridden values are not usage.
      if (overridden) return overridden
    }
    const local = this.evaluateLocally(key, context)
    if (local.reason.code !== 'needs_person' || storedPersons === undefined || state === undefined) return local
    const subject = subjectOf(context)
    const flag = flagAt(state, key)
    if (subject === undefined || flag === undefined) return local
    const outcomes = await storedPersons.evaluate([key], subject, state.digest)
    const evaluation = resolved(flag, outcomes.get(key))
    exposures?.report(evaluation, subject)
    return evaluation
  }

  async evaluateAll(context: EvaluationContext): Promise<readonly Evaluation[]> {
    const { current, storedPersons } = this.#dependencies
    const { state } = current
    const subject = subjectOf(context)
    if (subject === undefined || state === undefined) return []
    const keys = state.snapshot.flags.flatMap(({ key }) => (flagAt(state, key) ? [key] : []))
    const overrides = overridesOf(context)
    const overridden =
      overrides === undefined ? undefined : await this.#evaluateOverridden(state, keys, subject, overrides)
    const results = keys.map((key): LocalResult => {
      const evaluation = overridden?.get(key)
      return evaluation ? { evaluation } : this.#evaluateAt(state, key, subject)
    })
    const unresolved = results.flatMap(result => ('unresolved' in result ? [result.unresolved.key] : []))
    const outcomes = await storedPersons?.evaluate(unresolved, subject, state.digest)
    return results.map(result =>
      'unresolved' in result ? resolved(result.unresolved, outcomes?.get(result.unresolved.key)) : result.evaluation,
    )
  }

  payloadsOf(key: string): readonly unknown[] | undefined {
    const { state } = this.#dependencies.current
    const flag = state && flagAt(state, key)
    if (flag === undefined) return undefined
    const payloads = new Set(flag.outcomes.flatMap(({ payload }) => (payload === null ? [] : [payload])))
    return Array.from(payloads, parsePayload)
  }

  #evaluateAt(state: FlagState, key: string, subject: Subject): LocalResult {
    const flag = flagAt(state, key)
    if (flag === undefined) return { evaluation: withoutValue(key, 'flag_not_found') }
    if (needsStoredPerson(state, key, subject)) return { unresolved: flag }
    const outcome = state.snapshot.evaluate(subject, { keys: [key], now: this.#dependencies.now() }).get(key)!
    return { evaluation: evaluationOf(flag, outcome, 'local') }
  }

  /** The evaluations that the server made with the overrides of the context; empty when it accepts none. */
  async #evaluateOverridden(
    state: FlagState,
    keys: readonly string[],
    subject: Subject,
    overrides: string,
  ): Promise<ReadonlyMap<string, Evaluation>> {
    const outcomes = await this.#dependencies.overrides.evaluate(keys, subject, state.digest, overrides)
    return new Map(
      keys.flatMap(key => {
        const [flag, outcome] = [flagAt(state, key), outcomes.get(key)]
        return flag && outcome ? [[key, evaluationOf(flag, outcome, 'server')] as const] : []
      }),
    )
  }
}

/** Undefined for flags that SDKs on servers do not get. */
function flagAt({ snapshot, flags }: FlagState, key: string): CompiledFlag | undefined {
  const index = snapshot.indexOf(key)
  const flag = index === undefined ? undefined : snapshot.flags[index]
  return flag !== undefined && flags.get(flag.id)?.isForServers ? flag : undefined
}

const resolved = (flag: CompiledFlag, outcome: Outcome | undefined): Evaluation =>
  outcome === undefined ? withoutValue(flag.key, 'needs_person', flag) : evaluationOf(flag, outcome, 'server')
