import { checkCohort, usesCohorts } from '@halyard/engine'
import { type Cohort, type CohortContent, cohortDefinition } from '../../domain/cohort.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { gatherReferences } from '../../evaluation/subjects/gather-references.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

/** Throws `invalid` for filters that cannot be evaluated, refer to something that does not exist, or are circular. */
export async function checkCohortContent(
  tx: Stores,
  project: Project,
  cohort: CohortContent & Pick<Cohort, 'id' | 'isStatic'>,
): Promise<void> {
  if (cohort.isStatic) {
    if (!isBlank(cohort.filters)) {
      throw invalid('filters', 'invalid_input', 'A static cohort is a list of persons and cannot have filters.')
    }
    return
  }
  if (!Object.hasOwn(cohort.filters, 'properties')) {
    throw invalid(
      'filters',
      'invalid_input',
      'A cohort requires filters ({"properties": {"type": "AND" or "OR", "values": […]}}) or is_static: true.',
    )
  }
  const { properties } = cohort.filters as { properties?: unknown }
  // SDKs read a group without values as one of all people, which a misspelt name must not become.
  if (typeof properties === 'object' && properties !== null && !('values' in properties)) {
    throw invalid(
      'filters',
      'invalid_input',
      'filters.properties.values is missing. An empty list matches every person.',
    )
  }
  const [issue] = checkCohort(
    cohortDefinition(cohort),
    {
      ...(await gatherReferences(tx, project.id, [cohort.filters])),
      groupTypes: project.groupTypes,
      propertyMatchingVersion: project.propertyMatchingVersion,
    },
    { regex: linearRegex },
  )
  if (issue) throw invalid('filters', issue.code, `${issue.path}: ${issue.message}`)
}

/** Web clients send an empty tree for a static cohort. */
export function isBlank(filters: CohortContent['filters']): boolean {
  const { properties } = filters as { properties?: { values?: unknown } | null }
  const values = properties?.values
  return (
    properties === undefined ||
    properties === null ||
    values === undefined ||
    (Array.isArray(values) && values.length === 0)
  )
}

const namedMax = 10

/** Throws `invalid` while flags or other cohorts use the cohort, and names them. */
export async function rejectIfInUse(tx: Stores, project: Project, cohort: Cohort): Promise<void> {
  const uses = ({ filters }: { filters: unknown }) => usesCohorts(filters).includes(cohort.id)
  const flags = (await tx.flags.listLive(project.id)).filter(uses).map(flag => flag.key)
  const cohorts = (await tx.cohorts.listDefinitions(project.id))
    .filter(other => other.id !== cohort.id && !other.isStatic && uses(other))
    .map(other => other.name || `cohort ${other.id}`)
  const parts = [
    ...(flags.length > 0 ? [`the flags ${listed(flags)}`] : []),
    ...(cohorts.length > 0 ? [`the cohorts ${listed(cohorts)}`] : []),
  ]
  if (parts.length > 0) {
    throw invalid('deleted', 'cohort_in_use', `The cohort is used by ${parts.join(' and by ')}. Remove it there first.`)
  }
}

function listed(names: readonly string[]): string {
  const more = names.length > namedMax ? ` and ${names.length - namedMax} more` : ''
  return `${names.slice(0, namedMax).join(', ')}${more}`
}
