import type { CompiledFlag, Subject } from '@halyard/engine'
import { createProjectMarks } from '../overload/project-marks.ts'
import { createProjectTurns } from '../overload/project-turns.ts'
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
  /**
   * Synchronous when nothing has to be looked up and the project's evaluations are quick. A lookup that fails makes the evaluation incomplete.
   * Raises, or rejects with, `unavailable` when too many slow evaluations of the project wait.
   */
  evaluate(
    served: ServedProject,
    request: IdentifiedRequest,
    options?: EligibleOptions,
  ): Evaluation | Promise<Evaluation>
}

/** An evaluation with as many steps of regular expressions takes about 15 ms, and hundreds of usual flags take one. */
const slowStepsMin = 100_000

/** Computed once per version of a project. */
interface View {
  readonly eligible: EligibleFlags
  unresolvable: UnresolvableFlags | undefined
}

export function createEvaluator(subjects: StoredSubjects, now: () => number = Date.now): Evaluator {
  const views = new WeakMap<ServedProject, View>()
  /** After a failed lookup the project's next ones are skipped for a moment, so that clients do not wait for each of them. */
  const failedLookups = createProjectMarks()
  const turns = createProjectTurns()

  function viewOf(served: ServedProject): View {
    const cachedView = views.get(served)
    if (cachedView) return cachedView
    const view = { eligible: eligibleFlags(served), unresolvable: undefined }
    views.set(served, view)
    return view
  }

  function run(served: ServedProject, request: IdentifiedRequest, subject: Subject): Outcomes {
    const { keys } = request
    const results = served.snapshot.evaluate(subject, keys === undefined ? { now: now() } : { now: now(), keys })
    if (results.regexSteps >= slowStepsMin) turns.mark(served.project.id)
    return results
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
      const projectId = served.project.id
      const complete = (stored: StoredSubject | undefined) =>
        turns.run(projectId, (): Evaluation => {
          const subject = subjectOf(request, stored)
          return { eligible, outcomes: run(served, request, subject), subject, isIncomplete: false }
        })
      const incomplete = () => turns.run(projectId, () => withoutLookup(served, request, eligible))
      const wanted = wantedSubject(served, request)
      if (!wanted) return complete(undefined)
      const cached = subjects.findCached?.(projectId, wanted)
      if (cached) return complete(cached)
      if (failedLookups.has(projectId)) return incomplete()
      return lookUp(served, wanted).then(complete, () => {
        failedLookups.add(projectId)
        return incomplete()
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
