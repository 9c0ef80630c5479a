import type { CompiledFlag, Subject } from '@halyard/engine'
import { monotonicNow } from '../concurrency/monotonic-clock.ts'
import { type EligibleFlags, type EligibleOptions, eligibleFlags } from './eligible-flags.ts'
import type { Outcomes } from './outcomes.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { EvaluationRequest } from './subjects/evaluation-request.ts'
import {
  type Asking,
  type StoredSubject,
  type StoredSubjects,
  subjectOf,
  type WantedSubject,
  wantedSubject,
} from './subjects/gather-subject.ts'
import { type UnresolvableFlags, unresolvableFlags } from './unresolvable-flags.ts'

/** What was found out for one request. */
export interface Evaluation {
  /** The flags to be told, as positions in the snapshot. */
  readonly eligible: readonly number[]
  readonly outcomes: Outcomes
  /** Whom it was about, with what was looked up. */
  readonly subject: Subject
  /** Something that is stored could not be looked up. */
  readonly isIncomplete: boolean
}

export interface Evaluator {
  /** At once when all that is needed is at hand. Never rejects: a look-up that fails makes the evaluation incomplete. */
  evaluate(served: ServedProject, asking: Asking, options?: EligibleOptions): Evaluation | Promise<Evaluation>
  /** Undefined when something has to be looked up first. */
  evaluateAtOnce(served: ServedProject, asking: Asking): Evaluation | undefined
}

/** What is worked out once for a project as it is served. */
interface View {
  readonly eligible: EligibleFlags
  inDoubt: UnresolvableFlags | undefined
}

const lookUpMillisecondsMax = 1000
/** After a look-up has failed, none is tried for so long: clients wait three seconds at most. */
const pauseMilliseconds = 1000

export function createEvaluator(subjects: StoredSubjects, now: () => number = Date.now): Evaluator {
  const views = new WeakMap<ServedProject, View>()
  let pausedUntil = 0

  function viewOf(served: ServedProject): View {
    const known = views.get(served)
    if (known) return known
    const view = { eligible: eligibleFlags(served), inDoubt: undefined }
    views.set(served, view)
    return view
  }

  function run(served: ServedProject, asking: Asking, subject: Subject): Outcomes {
    const { keys } = asking
    return served.snapshot.evaluate(subject, keys === undefined ? { now: now() } : { now: now(), keys })
  }

  /** Flags that hang on what could not be looked up are told as failed: no answer is better than a wrong one. */
  function withoutLookUp(served: ServedProject, asking: Asking, eligible: readonly number[]): Evaluation {
    const view = viewOf(served)
    view.inDoubt ??= unresolvableFlags(served)
    const isInDoubt = view.inDoubt(asking)
    const subject = subjectOf(asking, undefined)
    const known = run(served, asking, subject)
    const { flags } = served.snapshot
    const outcomes: Outcomes = {
      outcomeIndex(index) {
        const outcome = known.outcomeIndex(index)
        return outcome !== -1 && isInDoubt(index) ? failureOf(flags[index]!) : outcome
      },
    }
    return { eligible, outcomes, subject, isIncomplete: true }
  }

  async function lookUp(served: ServedProject, wanted: WantedSubject): Promise<StoredSubject> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('The look-up took too long.')), lookUpMillisecondsMax)
    })
    return Promise.race([subjects.find(served.project.id, wanted), late]).finally(() => clearTimeout(timer))
  }

  return {
    evaluate(served, asking, options) {
      const eligible = viewOf(served).eligible.for(asking, options)
      const complete = (stored: StoredSubject | undefined): Evaluation => {
        const subject = subjectOf(asking, stored)
        return { eligible, outcomes: run(served, asking, subject), subject, isIncomplete: false }
      }
      const wanted = wantedSubject(served, asking)
      if (!wanted) return complete(undefined)
      if (monotonicNow() < pausedUntil) return withoutLookUp(served, asking, eligible)
      return lookUp(served, wanted).then(complete, () => {
        pausedUntil = monotonicNow() + pauseMilliseconds
        return withoutLookUp(served, asking, eligible)
      })
    },
    evaluateAtOnce(served, asking) {
      if (wantedSubject(served, asking)) return undefined
      const subject = subjectOf(asking, undefined)
      const outcomes = run(served, asking, subject)
      return { eligible: viewOf(served).eligible.for(asking), outcomes, subject, isIncomplete: false }
    },
  }
}

function failureOf(flag: CompiledFlag): number {
  const index = flag.outcomes.findIndex(outcome => outcome.failed)
  return index === -1 ? 0 : index
}

export const isAsking = (request: EvaluationRequest): request is Asking => request.distinctId !== undefined
