import type { CompiledFlag, Subject } from '@halyard/engine'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { type EligibleFlags, type EligibleOptions, eligibleFlags } from './eligible-flags.ts'
import type { Outcomes } from './outcomes.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { EvaluationRequest } from './subjects/evaluation-request.ts'
import {
  type IdentifiedRequest,
  lookupMillisecondsMax,
  type StoredSubject,
  type StoredSubjects,
  subjectOf,
  type WantedSubject,
  wantedSubject,
} from './subjects/gather-subject.ts'
import { type UnresolvableFlags, unresolvableFlags } from './unresolvable-flags.ts'

/** The results for one request. */
export interface Evaluation {
  /** The flags to return, as positions in the snapshot. */
  readonly eligible: readonly number[]
  readonly outcomes: Outcomes
  /** The subject, with its stored properties. */
  readonly subject: Subject
  /** Stored properties could not be looked up. */
  readonly isIncomplete: boolean
}

export interface Evaluator {
  /** Synchronous when nothing has to be looked up. Never rejects: a lookup that fails makes the evaluation incomplete. */
  evaluate(
    served: ServedProject,
    request: IdentifiedRequest,
    options?: EligibleOptions,
  ): Evaluation | Promise<Evaluation>
}

/** Computed once per version of a project. */
interface View {
  readonly eligible: EligibleFlags
  unresolvable: UnresolvableFlags | undefined
}

export function createEvaluator(subjects: StoredSubjects, now: () => number = Date.now): Evaluator {
  const views = new WeakMap<ServedProject, View>()
  const breaker = createCircuitBreaker()

  function viewOf(served: ServedProject): View {
    const cachedView = views.get(served)
    if (cachedView) return cachedView
    const view = { eligible: eligibleFlags(served), unresolvable: undefined }
    views.set(served, view)
    return view
  }

  function run(served: ServedProject, request: IdentifiedRequest, subject: Subject): Outcomes {
    const { keys } = request
    return served.snapshot.evaluate(subject, keys === undefined ? { now: now() } : { now: now(), keys })
  }

  /** Flags that depend on what could not be looked up evaluate to a failure: no result is better than a wrong one. */
  function withoutLookup(served: ServedProject, request: IdentifiedRequest, eligible: readonly number[]): Evaluation {
    const view = viewOf(served)
    view.unresolvable ??= unresolvableFlags(served)
    const isUnresolvable = view.unresolvable(request)
    const subject = subjectOf(request, undefined)
    const sentOutcomes = run(served, request, subject)
    const { flags } = served.snapshot
    const outcomes: Outcomes = {
      outcomeIndex(index) {
        const outcome = sentOutcomes.outcomeIndex(index)
        return outcome !== -1 && isUnresolvable(index) ? failureOf(flags[index]!) : outcome
      },
    }
    return { eligible, outcomes, subject, isIncomplete: true }
  }

  async function lookUp(served: ServedProject, wanted: WantedSubject): Promise<StoredSubject> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('The lookup took too long.')), lookupMillisecondsMax)
    })
    return Promise.race([subjects.find(served.project.id, wanted), late]).finally(() => clearTimeout(timer))
  }

  return {
    evaluate(served, request, options) {
      const eligible = viewOf(served).eligible.for(request, options)
      const complete = (stored: StoredSubject | undefined): Evaluation => {
        const subject = subjectOf(request, stored)
        return { eligible, outcomes: run(served, request, subject), subject, isIncomplete: false }
      }
      const wanted = wantedSubject(served, request)
      if (!wanted) return complete(undefined)
      const projectId = served.project.id
      const cached = subjects.findCached?.(projectId, wanted)
      if (cached) return complete(cached)
      if (breaker.isOpen(projectId)) return withoutLookup(served, request, eligible)
      return lookUp(served, wanted).then(complete, () => {
        breaker.open(projectId)
        return withoutLookup(served, request, eligible)
      })
    },
  }
}

function failureOf(flag: CompiledFlag): number {
  const index = flag.outcomes.findIndex(outcome => outcome.failed)
  return index === -1 ? 0 : index
}

export const hasDistinctId = (request: EvaluationRequest): request is IdentifiedRequest =>
  request.distinctId !== undefined
