import { compile, type Requirements } from '@halyard/engine'
import { linearRegex } from './linear-regex.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { Asking } from './subjects/gather-subject.ts'

/** Which flags cannot be decided by what a request itself says, as positions in the snapshot. */
export type UnresolvableFlags = (asking: Asking) => (flagIndex: number) => boolean

/** Each flag's own needs, worked out once: this is only asked for while stored properties cannot be looked up. */
export function unresolvableFlags(served: ServedProject): UnresolvableFlags {
  const { snapshot, project, cohorts } = served
  const { groupTypes, propertyMatchingVersion } = project
  const needs = snapshot.flags.map(
    ({ definition }) =>
      compile({ flags: [definition], cohorts, groupTypes, propertyMatchingVersion }, { regex: linearRegex })
        .requirements,
  )
  const dependencies = snapshot.flags.map(flag =>
    flag.references.flatMap(reference => indexOfReference(served, reference)),
  )

  return asking => {
    const decided = new Map<number, boolean>()
    const isInDoubt = (index: number): boolean => {
      const known = decided.get(index)
      if (known !== undefined) return known
      // A flag that depends on itself is settled by its neighbours' needs alone.
      decided.set(index, false)
      const doubt = isMissingSomething(needs[index]!, asking) || dependencies[index]!.some(isInDoubt)
      decided.set(index, doubt)
      return doubt
    }
    return isInDoubt
  }
}

function indexOfReference({ snapshot }: ServedProject, reference: string): number[] {
  const byId = snapshot.flags.findIndex(flag => String(flag.id) === reference)
  const index = byId === -1 ? (snapshot.indexOf(reference) ?? -1) : byId
  return index === -1 ? [] : [index]
}

function isMissingSomething(needs: Requirements, asking: Asking): boolean {
  if (needs.staticCohorts.size > 0 || needs.continuityFlags.length > 0) return true
  for (const name of needs.personProperties) {
    if (!Object.hasOwn(asking.personProperties, name) && name !== 'distinct_id') return true
  }
  for (const [type, names] of needs.groupProperties) {
    if (!Object.hasOwn(asking.groups, type)) continue
    const given = asking.groupProperties[type] ?? {}
    for (const name of names) if (!Object.hasOwn(given, name) && name !== '$group_key') return true
  }
  return false
}
