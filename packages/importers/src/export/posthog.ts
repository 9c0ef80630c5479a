import type { CohortGroup, Condition, Property } from '../model.ts'
import {
  type ExportedCohort,
  type ExportedProject,
  type ExportResult,
  exportEach,
  isGroup,
  propertiesOf,
} from './exported.ts'

/** Operators of PostHog; the others are Halyard's own. */
const posthogOperators: ReadonlySet<string> = new Set([
  ...['exact', 'is_not', 'icontains', 'not_icontains', 'icontains_multi', 'not_icontains_multi'],
  ...['starts_with', 'not_starts_with', 'ends_with', 'not_ends_with', 'regex', 'not_regex'],
  ...['gt', 'gte', 'lt', 'lte', 'min', 'max', 'between', 'not_between', 'is_set', 'is_not_set'],
  ...['is_date_exact', 'is_date_before', 'is_date_after'],
  ...['semver_eq', 'semver_neq', 'semver_gt', 'semver_gte', 'semver_lt', 'semver_lte'],
  ...['semver_tilde', 'semver_caret', 'semver_wildcard', 'in', 'not_in', 'flag_evaluates_to'],
])

const isForeign = ({ operator, inverted }: Property): boolean =>
  inverted === true || (operator !== undefined && operator !== null && !posthogOperators.has(operator))

const isForeignCondition = ({ bucketing, split, value }: Condition): boolean =>
  Boolean(bucketing) || Boolean(split) || value === false

/** Flags and cohorts as PostHog lists them, with their ids. `halyard import-from posthog` reads it. */
export function exportPostHog({ flags, cohorts, groupTypes }: ExportedProject): ExportResult {
  const foreignCohorts = new Set(cohorts.filter(cohort => leavesOf(cohort).some(isForeign)).map(({ id }) => String(id)))
  const { written, items } = exportEach(flags, (flag, notes) => {
    if (flag.filters.bucketing || (flag.filters.groups ?? []).some(isForeignCondition)) {
      return notes.refuse(
        'PostHog has no bucketing of other services, no splits and no conditions that turn a flag off.',
      )
    }
    const properties = propertiesOf(flag)
    const foreign = properties.find(isForeign)
    if (foreign) return notes.refuse(`PostHog does not have the operator ${foreign.operator ?? 'exact'} used here.`)
    if (properties.some(({ type, value }) => type === 'cohort' && foreignCohorts.has(String(value)))) {
      return notes.refuse('A cohort of the flag uses operators that PostHog does not have.')
    }
    return {
      id: flag.id,
      key: flag.key,
      name: flag.name,
      active: flag.active,
      deleted: false,
      filters: flag.filters,
      tags: flag.tags,
      ensure_experience_continuity: flag.ensureExperienceContinuity,
      bucketing_identifier: flag.bucketingIdentifier,
    }
  })
  return {
    document: {
      flags: written.map(({ result }) => result),
      cohorts: cohorts
        .filter(({ id }) => !foreignCohorts.has(String(id)))
        .map(({ id, name, isStatic, filters }) => ({ id, name, is_static: isStatic, filters })),
      group_type_mapping: groupTypes,
    },
    items,
  }
}

export function leavesOf({ filters }: Pick<ExportedCohort, 'filters'>): Property[] {
  const leaves = (group: CohortGroup | undefined): Property[] =>
    (group?.values ?? []).flatMap(member => (isGroup(member) ? leaves(member) : [member]))
  return leaves(filters.properties)
}
