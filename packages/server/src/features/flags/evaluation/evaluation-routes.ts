import { routes } from '@halyard/contract'
import type { CompiledFlag, Outcome } from '@halyard/engine'
import { reasonToWire } from '../../../evaluation/evaluation-resource.ts'
import { type Evaluation, type Evaluator, hasDistinctId } from '../../../evaluation/evaluator.ts'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import { readEvaluationRequest } from '../../../evaluation/subjects/evaluation-request.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { dateOf } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { blankFlag, flagToWire } from '../flag-resource.ts'

interface Deps extends RouteDeps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
}

/** Contract 4.2: evaluation for users instead of SDKs, by the same evaluator. */
export function serveEvaluation(serve: ServeRoute, { database, snapshots, evaluator, now }: Deps): void {
  const r = routes.flagEvaluation

  async function evaluateFor(project: Project, distinctId: string | undefined, groups: string | undefined) {
    const request = readEvaluationRequest({ distinct_id: distinctId || undefined, groups: readGroups(groups) }, {})
    if (!hasDistinctId(request)) throw invalid('distinct_id', 'required', '`distinct_id` is required.')
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    return { served, evaluation: await evaluator.evaluate(served, request) }
  }

  serve(r.reasons, async ({ actor, project, query }) => {
    // The contract documents a call without parameters; then the caller is the subject, as in my_flags.
    const distinctId = query.distinct_id ?? actor.user.distinctId
    const { served, evaluation } = await evaluateFor(project, distinctId, query.groups)
    const keys = readKeys(query.flag_keys)
    const explain = query.explain === 'true' || query.explain === ''
    const at = dateOf(now()).getTime()
    const reasons = outcomesOf(served, evaluation)
      .filter(([flag]) => !keys || keys.has(flag.key))
      .map(([flag, outcome]) => {
        const trace = explain ? served.snapshot.explain(evaluation.subject, { key: flag.key, now: at }) : undefined
        return [flag.key, reasonToWire(outcome, trace)] as const
      })
    return {
      ...blankFlag(actor, project),
      reasons: Object.fromEntries(reasons),
      is_incomplete: evaluation.isIncomplete,
    }
  })

  serve(r.mine, async ({ actor, project, query }) => {
    const { served, evaluation } = await evaluateFor(project, actor.user.distinctId, query.groups)
    const grants = await database.read(tx => grantsFor(tx, actor, project))
    const results = outcomesOf(served, evaluation)
      .map(([{ id }, { value }]) => ({ flag: served.flags.get(id)!, value }))
      .sort((a, b) =>
        a.flag.createdAt < b.flag.createdAt ? 1 : a.flag.createdAt > b.flag.createdAt ? -1 : b.flag.id - a.flag.id,
      )
      .map(({ flag, value }) => ({ feature_flag: flagToWire(flag, canEditFlag(grants, flag)), value }))
    return { ...blankFlag(actor, project), results, is_incomplete: evaluation.isIncomplete }
  })
}

/** Every live flag with its value, including inactive flags. */
function outcomesOf(served: ServedProject, { outcomes }: Evaluation): readonly (readonly [CompiledFlag, Outcome])[] {
  return served.snapshot.flags.flatMap((flag, index) => {
    const outcome = flag.outcomes[outcomes.outcomeIndex(index)]
    return outcome ? [[flag, outcome] as const] : []
  })
}

function readGroups(text: string | undefined): unknown {
  const groups = readJson(text ?? '')
  if (groups === undefined && text) throw invalid('groups', 'invalid_input', 'groups must be a JSON object.')
  if (groups !== undefined && (typeof groups !== 'object' || groups === null || Array.isArray(groups))) {
    throw invalid('groups', 'not_a_dict', 'groups must be a JSON object: group type → group key.')
  }
  return groups
}

function readKeys(text: string | undefined): ReadonlySet<unknown> | undefined {
  const keys = readJson(text ?? '')
  return Array.isArray(keys) ? new Set(keys) : undefined
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
