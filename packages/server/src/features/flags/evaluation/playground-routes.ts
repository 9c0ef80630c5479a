import { setImmediate } from 'node:timers/promises'
import { type PlaygroundValue, playgroundFlagsMax, routes } from '@halyard/contract'
import { type Outcome, usesFlags } from '@halyard/engine'
import type { Flag } from '../../../domain/flag.ts'
import type { Evaluation, Evaluator } from '../../../evaluation/evaluator.ts'
import { hasDistinctId } from '../../../evaluation/evaluator.ts'
import { type ServedProject, servedProject } from '../../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import { readEvaluationRequest } from '../../../evaluation/subjects/evaluation-request.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, missing } from '../../../problem.ts'

interface Deps {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
}

/** Evaluates for many people at once. Without an anonymous id nothing is ever stored. */
export function servePlayground(serve: ServeRoute, { snapshots, evaluator }: Deps): void {
  serve(routes.playground.evaluate, async ({ project, body }) => {
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    const keys = chosenKeys(served, body.flag_keys)
    const draft = body.draft && draftOf(served, body.draft.flag_id, body.draft.filters)
    const results = []
    for (const person of body.people) {
      const request = readEvaluationRequest(
        { ...person, person_properties: { ...body.person_properties, ...person.person_properties }, flag_keys: keys },
        {},
      )
      if (!hasDistinctId(request)) throw invalid('people', 'required', 'Every person needs a distinct_id.')
      const live = await evaluator.evaluate(served, request)
      const drafted = draft && (await evaluator.evaluate(draft.served, { ...request, keys: [draft.key] }))
      results.push({
        distinct_id: person.distinct_id,
        values: valuesOf(served, live, keys),
        draft: (draft && drafted && valuesOf(draft.served, drafted, [draft.key])[draft.key]) ?? null,
        is_incomplete: live.isIncomplete,
      })
      // Other requests are not kept waiting by many people.
      await setImmediate()
    }
    return { flags: keys, results }
  })
}

function chosenKeys(served: ServedProject, wanted: readonly string[] | undefined): string[] {
  if (wanted === undefined) {
    return served.snapshot.flags
      .map(({ key }) => key)
      .sort()
      .slice(0, playgroundFlagsMax)
  }
  const unknown = wanted.find(key => served.snapshot.indexOf(key) === undefined)
  if (unknown !== undefined) throw invalid('flag_keys', 'does_not_exist', `There is no flag with the key "${unknown}".`)
  return [...new Set(wanted)]
}

/** The flag with other filters and what it depends on, compiled apart: the served snapshot must not grow with drafts. */
function draftOf(served: ServedProject, flagId: number, filters: Readonly<Record<string, unknown>>) {
  const stored = served.flags.get(flagId)
  if (!stored) throw invalid('draft', 'does_not_exist', `There is no flag ${flagId} in this project.`)
  const flags = new Map<number, Flag>([[stored.id, { ...stored, filters, active: true }]])
  const open = usesFlags(filters)
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const flag = served.flags.get(id)
    if (!flag || flags.has(id)) continue
    flags.set(id, flag)
    open.push(...usesFlags(flag.filters))
  }
  const { project, cohorts, hasPersons } = served
  const drafted = servedProject({ project, flags: [...flags.values()], cohorts, hasPersons })
  const [issue] = drafted.snapshot.issues.get(stored.id) ?? []
  if (issue) throw invalid('draft', issue.code, `${issue.path}: ${issue.message}`)
  return { served: drafted, key: stored.key }
}

function valuesOf(
  { snapshot }: ServedProject,
  { outcomes }: Evaluation,
  keys: readonly string[],
): Record<string, PlaygroundValue> {
  return Object.fromEntries(
    keys.flatMap(key => {
      const index = snapshot.indexOf(key)
      const outcome = index === undefined ? undefined : snapshot.flags[index]?.outcomes[outcomes.outcomeIndex(index)]
      return outcome ? [[key, valueToWire(outcome)]] : []
    }),
  )
}

const valueToWire = ({ value, payload, reason }: Outcome): PlaygroundValue => ({
  value,
  payload,
  reason: reason.code,
  condition_index: reason.conditionIndex,
})
