import type { Flag } from '../domain/flag.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { Runtime } from './request-runtime.ts'
import type { EvaluationRequest } from './subjects/evaluation-request.ts'

export interface EligibleOptions {
  readonly onlySurveys?: boolean
  /** Includes disabled flags. */
  readonly withInactive?: boolean
}

type Asked = Pick<EvaluationRequest, 'runtime' | 'contexts' | 'keys'>

const surveyPrefix = 'survey-targeting-'

/** The flags to return for a request, as positions in the snapshot. The usual cases are cached. */
export interface EligibleFlags {
  for(asked: Asked, options?: EligibleOptions): readonly number[]
}

export function eligibleFlags({ snapshot, flags }: ServedProject): EligibleFlags {
  const byRuntime = new Map<string, readonly number[]>()

  const flagAt = (index: number): Flag => flags.get(snapshot.flags[index]!.id)!

  const isFor = (index: number, runtime: Runtime | undefined, withInactive: boolean): boolean =>
    (snapshot.flags[index]!.active || withInactive) && runsOn(flagAt(index), runtime)

  function forRuntime(runtime: Runtime | undefined, withInactive: boolean): readonly number[] {
    const name = withInactive ? `${runtime} all` : `${runtime}`
    const cached = byRuntime.get(name)
    if (cached) return cached
    const positions = Array.from(snapshot.flags.keys()).filter(index => isFor(index, runtime, withInactive))
    byRuntime.set(name, positions)
    return positions
  }

  /** Reads the requested flags only, so that one of a thousand costs no scan. */
  function forKeys(keys: readonly string[], runtime: Runtime | undefined, withInactive: boolean): readonly number[] {
    const asked = new Set(keys.flatMap(key => snapshot.indexOf(key) ?? []))
    return [...asked].filter(index => isFor(index, runtime, withInactive)).sort((left, right) => left - right)
  }

  return {
    for({ runtime, contexts, keys }, { onlySurveys = false, withInactive = false } = {}) {
      const all = keys ? forKeys(keys, runtime, withInactive) : forRuntime(runtime, withInactive)
      if (contexts.length === 0 && !onlySurveys) return all
      return all.filter(index => {
        const { key, evaluationContexts } = flagAt(index)
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
