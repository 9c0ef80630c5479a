import type { Cohort as CohortWire, CohortWrite } from '@halyard/contract'
import type { Cohort, CohortContent, CohortPatch, FreeObject } from '../../domain/cohort.ts'
import { nameOf, type Person } from '../../domain/person.ts'
import { invalid } from '../../problem.ts'
import { userToWire } from '../identity/user-resource.ts'

/** Wire ↔ domain, both ways. */

export const contentToWire = (content: CohortContent) => ({
  name: content.name,
  description: content.description,
  deleted: content.deleted,
  filters: content.filters as Record<string, unknown>,
})

export const cohortToWire = (cohort: Cohort): CohortWire => ({
  id: cohort.id,
  ...contentToWire(cohort),
  groups: [],
  query: null,
  is_calculating: cohort.calculation.job !== undefined,
  created_by: userToWire(cohort.createdBy),
  created_at: cohort.createdAt,
  last_calculation: cohort.calculation.lastCalculation,
  errors_calculating: cohort.calculation.errors,
  count: cohort.calculation.count,
  is_static: cohort.isStatic,
  last_error: cohort.calculation.lastError,
  progress: cohort.calculation.job ?? null,
  version: cohort.version,
  counted_events: cohort.calculation.countedEvents.map(({ event, countedSince, history }) => ({
    event,
    counted_since: countedSince,
    history: history
      ? {
          since: history.from <= countedSince.slice(0, 10) ? history.from : null,
          percent: history.percent,
        }
      : null,
  })),
})

const untitled = 'Untitled cohort'

/** Throws `invalid` for queries, and for legacy groups that hold more than properties. */
export function patchFromWire(body: CohortWrite): CohortPatch {
  if (body.query) {
    throw invalid('query', 'invalid_input', 'query is not supported; use filters, or send distinct_ids.')
  }
  return {
    name: body.name === undefined ? undefined : body.name?.trim() || untitled,
    description: body.description === undefined ? undefined : (body.description ?? ''),
    filters: body.filters ?? (body.groups && body.groups.length > 0 ? filtersOfGroups(body.groups) : undefined),
    deleted: body.deleted,
  }
}

export const newContent = (patch: CohortPatch): CohortContent => ({
  name: patch.name ?? untitled,
  description: patch.description ?? '',
  filters: patch.filters ?? {},
  deleted: patch.deleted ?? false,
})

/** Converts legacy groups: a member matches any of the groups, and within a group all properties. */
function filtersOfGroups(groups: readonly unknown[]): FreeObject {
  const values = groups.map((group, index) => {
    const { properties } = (typeof group === 'object' && group !== null ? group : {}) as { properties?: unknown }
    if (Array.isArray(properties)) return { type: 'AND', values: properties }
    if (typeof properties === 'object' && properties !== null) return properties
    throw invalid('groups', 'invalid_input', `groups[${index}]: only groups of properties are supported.`)
  })
  return { properties: { type: 'OR', values } }
}

export const memberToWire = (person: Person, distinctIds: readonly string[]) => ({
  id: person.uuid,
  uuid: person.uuid,
  type: 'person' as const,
  name: nameOf(person, distinctIds),
  distinct_ids: distinctIds as string[],
  properties: person.properties as Record<string, unknown>,
  created_at: person.createdAt,
})
