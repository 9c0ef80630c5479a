import type { CohortGroup, Condition, Property } from '../model/model.ts'
import {
  type ExportedCohort,
  type ExportedFlag,
  type ExportedProject,
  type ExportNotes,
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
  const foreignCohorts = foreignCohortsOf(cohorts)
  const refused = new Set<string>()
  const write = (flag: ExportedFlag, notes: ExportNotes) => {
    if (flag.filters.bucketing || (flag.filters.groups ?? []).some(isForeignCondition)) {
      return notes.refuse(
        'PostHog has no bucketing of other services, no splits and no conditions that turn a flag off.',
      )
    }
    const properties = propertiesOf(flag)
    const foreign = properties.find(isForeign)
    if (foreign) return notes.refuse(`PostHog does not have the operator ${foreign.operator ?? 'exact'} used here.`)
    if (properties.some(({ type, value }) => type === 'cohort' && foreignCohorts.has(String(value)))) {
      return notes.refuse('A cohort of the flag is static or behavioral, or uses operators that PostHog does not have.')
    }
    if (properties.some(({ type, key }) => type === 'flag' && refused.has(key))) {
      return notes.refuse('A flag that it depends on cannot be written.')
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
      // PostHog ignores it; another Halyard reads it.
      ...(flag.payloadSchema && { payload_schema: flag.payloadSchema }),
    }
  }
  // A refused flag takes those with it that depend on it.
  let { written, items } = exportEach(flags, write)
  for (let count = -1; count < refused.size; ) {
    count = refused.size
    for (const [index, { status }] of items.entries()) {
      const { id, key } = flags[index]!
      if (status === 'refused') refused.add(String(id)).add(key)
    }
    ;({ written, items } = exportEach(flags, write))
  }
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

/** The members of static cohorts cannot be written, and PostHog has no behavioral ones in flags; a cohort in which one is used is lost with it. */
function foreignCohortsOf(cohorts: readonly ExportedCohort[]): ReadonlySet<string> {
  const foreign = new Set<string>()
  for (let count = -1; count < foreign.size; ) {
    count = foreign.size
    for (const cohort of cohorts) {
      const isLost = ({ type, value }: Property) => type === 'cohort' && foreign.has(String(value))
      const isBehavioral = ({ type }: Property) => type === 'behavioral'
      if (cohort.isStatic || leavesOf(cohort).some(leaf => isBehavioral(leaf) || isForeign(leaf) || isLost(leaf))) {
        foreign.add(String(cohort.id))
      }
    }
  }
  return foreign
}

export function leavesOf({ filters }: Pick<ExportedCohort, 'filters'>): Property[] {
  const leaves = (group: CohortGroup | undefined): Property[] =>
    (group?.values ?? []).flatMap(member => (isGroup(member) ? leaves(member) : [member]))
  return leaves(filters.properties)
}
