import { type CompiledFlag, compile, type Requirements, usesCohorts } from '@halyard/engine'
import { linearRegex } from './linear-regex.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { IdentifiedRequest } from './subjects/gather-subject.ts'

/** The flags that cannot be evaluated from the request alone, as positions in the snapshot. */
export type UnresolvableFlags = (request: IdentifiedRequest) => (flagIndex: number) => boolean

/** The number of flags that one request analyzes. The rest counts as unresolvable; the next request continues. */
const analysesPerRequestMax = 200

/** Needed only while stored properties cannot be looked up. Each flag is analyzed when it is first requested. */
export function unresolvableFlags(served: ServedProject): UnresolvableFlags {
  const { flags } = served.snapshot
  const requirementsByFlag = new Map<CompiledFlag, Requirements>()
  const indexById = new Map(flags.map((flag, index) => [String(flag.id), index]))

  const dependenciesOf = (index: number): number[] =>
    flags[index]!.references.flatMap(reference => indexById.get(reference) ?? served.snapshot.indexOf(reference) ?? [])

  return request => {
    let analyses = 0
    const decided = new Map<number, boolean>()

    function requirementsOf(flag: CompiledFlag): Requirements | undefined {
      const cached = requirementsByFlag.get(flag)
      if (cached || analyses >= analysesPerRequestMax) return cached
      analyses += 1
      const requirements = analyze(served, flag)
      requirementsByFlag.set(flag, requirements)
      return requirements
    }

    function isUnresolvable(index: number): boolean {
      const decision = decided.get(index)
      if (decision !== undefined) return decision
      // A flag in a cycle is decided by the others of the cycle.
      decided.set(index, false)
      const requirements = requirementsOf(flags[index]!)
      const result =
        requirements === undefined ||
        isMissingSomething(requirements, request) ||
        dependenciesOf(index).some(isUnresolvable)
      decided.set(index, result)
      return result
    }
    return isUnresolvable
  }
}

/** Compiles the flag with the cohorts that it uses, and no others. */
function analyze({ project, cohorts }: ServedProject, { definition }: CompiledFlag): Requirements {
  const { groupTypes, propertyMatchingVersion } = project
  const used = new Set(usesCohorts(definition.filters))
  const byId = used.size > 0 ? new Map(cohorts.map(cohort => [cohort.id, cohort])) : new Map()
  for (const id of used) for (const inner of usesCohorts(byId.get(id)?.filters)) used.add(inner)
  const own = cohorts.filter(cohort => used.has(cohort.id))
  return compile({ flags: [definition], cohorts: own, groupTypes, propertyMatchingVersion }, { regex: linearRegex })
    .requirements
}

function isMissingSomething(requirements: Requirements, request: IdentifiedRequest): boolean {
  const { staticCohorts, continuityFlags, events } = requirements
  if (staticCohorts.size > 0 || continuityFlags.length > 0 || events.size > 0) return true
  for (const name of requirements.personProperties) {
    if (!Object.hasOwn(request.personProperties, name) && name !== 'distinct_id') return true
  }
  for (const [type, names] of requirements.groupProperties) {
    if (!Object.hasOwn(request.groups, type)) continue
    const sentProperties = request.groupProperties[type] ?? {}
    for (const name of names) if (!Object.hasOwn(sentProperties, name) && name !== '$group_key') return true
  }
  return false
}
