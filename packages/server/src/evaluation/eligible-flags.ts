import type { Flag } from '../flags/flag.ts'
import type { EvaluationRequest } from './evaluation-request.ts'
import type { Runtime } from './request-runtime.ts'
import type { ServedProject } from './served-project.ts'

export interface EligibleOptions {
  readonly onlySurveys?: boolean
  /** Also flags that are switched off. */
  readonly withInactive?: boolean
}

type Asked = Pick<EvaluationRequest, 'runtime' | 'contexts' | 'keys'>

const surveyPrefix = 'survey-targeting-'

/** Which flags are told to whom: positions in the snapshot. Works out the usual cases once. */
export interface EligibleFlags {
  for(asked: Asked, options?: EligibleOptions): readonly number[]
}

export function eligibleFlags({ snapshot, flags }: ServedProject): EligibleFlags {
  const byRuntime = new Map<string, readonly number[]>()

  const flagAt = (index: number): Flag => flags.get(snapshot.flags[index]!.id)!

  function forRuntime(runtime: Runtime | undefined, withInactive: boolean): readonly number[] {
    const name = withInactive ? `${runtime} all` : `${runtime}`
    const known = byRuntime.get(name)
    if (known) return known
    const positions = snapshot.flags.flatMap((flag, index) =>
      (flag.active || withInactive) && runsOn(flagAt(index), runtime) ? [index] : [],
    )
    byRuntime.set(name, positions)
    return positions
  }

  return {
    for({ runtime, contexts, keys }, { onlySurveys = false, withInactive = false } = {}) {
      const all = forRuntime(runtime, withInactive)
      if (contexts.length === 0 && keys === undefined && !onlySurveys) return all
      const wanted = keys && new Set(keys)
      return all.filter(index => {
        const { key, evaluationContexts } = flagAt(index)
        if (wanted && !wanted.has(key)) return false
        if (onlySurveys && !key.startsWith(surveyPrefix)) return false
        return contexts.length === 0 || isOfContext(evaluationContexts, contexts)
      })
    },
  }
}

const runsOn = ({ evaluationRuntime }: Flag, runtime: Runtime | undefined): boolean =>
  evaluationRuntime === null || evaluationRuntime === 'all' || evaluationRuntime === runtime

const isOfContext = (own: readonly string[], asked: readonly string[]): boolean =>
  own.length === 0 || own.some(context => asked.includes(context))
