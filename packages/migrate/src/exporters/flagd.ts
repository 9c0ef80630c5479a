import type { CohortGroup, Condition, Property } from '../model/model.ts'
import {
  type ExportedCohort,
  type ExportedFlag,
  type ExportedProject,
  type ExportNotes,
  type ExportResult,
  exportEach,
  isGroup,
  variantValues,
} from './exported.ts'

type Logic = unknown

interface Context {
  readonly notes: ExportNotes
  readonly cohorts: ReadonlyMap<string, ExportedCohort>
}

/** Flags of flagd with JsonLogic. Partial rollouts need flagd's own bucketing, otherwise people would change variants. */
export function exportFlagd({ flags, cohorts }: ExportedProject): ExportResult {
  const byId = new Map(cohorts.map(cohort => [String(cohort.id), cohort]))
  const { written, items } = exportEach(flags, (flag, notes) => writeFlag(flag, { notes, cohorts: byId }))
  return {
    document: {
      $schema: 'https://flagd.dev/schema/v0/flags.json',
      flags: Object.fromEntries(written.map(({ flag, result }) => [flag.key, result])),
    },
    items,
  }
}

function writeFlag(flag: ExportedFlag, context: Context) {
  const { notes } = context
  const { filters } = flag
  const values = variantValues(flag)
  const isBoolean = values.size === 0
  if (filters.feature_enrollment || filters.super_groups || filters.holdout) {
    return notes.refuse('flagd has neither early access nor holdouts.')
  }
  if (filters.early_exit) return notes.refuse('flagd has no early exit.')
  if (isBoolean && Object.keys(filters.payloads ?? {}).length > 0) {
    notes.differs('A flag of flagd that is on has no payload.')
  }
  if (!isBoolean && !areOfOneType([...values.values()])) {
    return notes.refuse('The variants have values of different types.')
  }
  // The rules are nested: each applies when those before it do not.
  let targeting: Logic = null
  for (const condition of [...(filters.groups ?? [])].reverse()) {
    targeting = writeCondition(condition, flag, targeting, context)
  }
  return {
    state: flag.active ? 'ENABLED' : 'DISABLED',
    variants: isBoolean ? { on: true, off: false } : Object.fromEntries(values),
    // Without a variant the default in the code applies, as with Halyard's providers.
    defaultVariant: isBoolean ? 'off' : null,
    ...(targeting !== null && { targeting: isLogic(targeting) ? targeting : { if: [true, targeting] } }),
  }
}

const isLogic = (value: Logic): boolean => typeof value === 'object' && value !== null

function areOfOneType(values: readonly unknown[]): boolean {
  const types = new Set(values.map(value => (Array.isArray(value) || value === null ? 'unsupported' : typeof value)))
  return types.size === 1 && !types.has('unsupported')
}

function writeCondition(condition: Condition, flag: ExportedFlag, otherwise: Logic, context: Context): Logic {
  const { notes } = context
  if ((condition.aggregation_group_type_index ?? flag.filters.aggregation_group_type_index ?? null) !== null) {
    return notes.refuse('flagd has no groups.')
  }
  const percentage = condition.rollout_percentage ?? 100
  if (percentage === 0) return otherwise
  if (percentage < 100) {
    return notes.refuse('A partial rollout would give people other variants, since flagd hashes differently.')
  }
  const served = servedBy(condition, flag, context)
  const tests = (condition.properties ?? []).map(property => writeProperty(property, context))
  if (tests.length === 0) return served
  return { if: [tests.length === 1 ? tests[0] : { and: tests }, served, otherwise] }
}

function servedBy({ value, variant, split, bucketing }: Condition, flag: ExportedFlag, { notes }: Context): Logic {
  const { filters } = flag
  const variants = filters.multivariate?.variants ?? []
  const isBoolean = variants.length === 0
  if (value === false && !isBoolean) return notes.refuse('flagd has no rule that turns a flag with variants off.')
  if (split) {
    const {
      algorithm,
      seed = '',
      by,
      identifier_prefix: prefix = '',
      encoding,
    } = split.bucketing ?? bucketing ?? filters.bucketing ?? { algorithm: '' }
    const nameOf = (part: (typeof split.variants)[number]): string => {
      if ('variant' in part) return part.variant
      if (!isBoolean) return notes.refuse('flagd has no part of a split that is only on or off beside variants.')
      return part.value ? 'on' : 'off'
    }
    const weights = split.variants.map(part => ('weight' in part ? [nameOf(part), part.weight] : null))
    if (algorithm !== 'flagd' || prefix !== '' || weights.includes(null)) {
      return notes.refuse('A split would give people other variants, since flagd hashes differently.')
    }
    if (encoding !== 'latin-1' && encoding !== 'utf-16') notes.differs('Text that is not ASCII is hashed differently.')
    return { fractional: [{ cat: [seed, { var: by ?? 'targetingKey' }] }, ...weights] }
  }
  if (isBoolean) return value === false ? 'off' : 'on'
  const only = variants.find(({ rollout_percentage: share }) => share === 100)?.key
  return variant ?? only ?? notes.refuse('A split would give people other variants, since flagd hashes differently.')
}

function writeProperty(property: Property, context: Context): Logic {
  const { notes, cohorts } = context
  if (property.type === 'flag') return notes.refuse('flagd has no dependencies between flags.')
  if (property.type === 'group') return notes.refuse('flagd has no groups.')
  if (property.type === 'behavioral') return notes.refuse('flagd does not know what people did.')
  if (property.type === 'cohort') {
    const cohort = cohorts.get(String(property.value))
    if (!cohort || cohort.isStatic) return notes.refuse('The members of a static cohort cannot be written.')
    const inside = writeGroup(cohort.filters.properties, context)
    const isExcluded = (property.operator === 'not_in') !== Boolean(property.inverted)
    return isExcluded ? { '!': [inside] } : inside
  }
  const test = writeTest(property, context)
  return property.inverted ? { '!': [test] } : test
}

function writeGroup(group: CohortGroup | undefined, context: Context): Logic {
  const members = (group?.values ?? []).map(member => {
    if (isGroup(member)) return writeGroup(member, context)
    const test = writeProperty(member, context)
    return member.negation ? { '!': [test] } : test
  })
  if (members.length === 0) return group?.type !== 'OR'
  return members.length === 1 ? members[0] : { [group?.type === 'OR' ? 'or' : 'and']: members }
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

const looseText = 'Halyard compares this text without regard to case; flagd does not.'

/** The strict operators have equivalents. PostHog's ignore case or type, which JsonLogic cannot. */
function writeTest(property: Property, { notes }: Context): Logic {
  const { key, operator = 'exact', value } = property
  const { ignore_case: ignoresCase, any_item: anyItem, same_type: sameType } = property
  if (key.includes('.')) return notes.refuse(`flagd reads "${key}" as a nested property.`)
  const subject = { var: key === 'distinct_id' ? 'targetingKey' : key }
  const isPresent = { '!=': [subject, null] }
  const values = Array.isArray(value) ? value : [value]
  if (!values.every(isScalar)) return notes.refuse(`The operator ${operator} cannot be written with this value.`)
  if (ignoresCase === true) notes.differs(looseText)
  if (anyItem === true) notes.differs('Halyard compares each item of a list; flagd does not.')
  if (sameType === true) notes.differs('Halyard compares values of one type only; flagd converts others.')
  const any = (tests: readonly Logic[]): Logic => (tests.length === 1 ? tests[0] : { or: tests })
  const compare = (sign: string): Logic => ({ and: [isPresent, { [sign]: [subject, Number(value)] }] })
  const version = (sign: string): Logic => ({ and: [isPresent, { sem_ver: [subject, sign, String(value)] }] })
  const loosely = (logic: Logic): Logic => {
    notes.differs(looseText)
    return logic
  }
  switch (operator) {
    case 'json_one_of':
      return Array.isArray(value) ? { in: [subject, values] } : notes.refuse('The operator json_one_of needs a list.')
    case 'text_equals':
      return { in: [subject, values.map(String)] }
    case 'exact':
      return loosely({ in: [subject, values] })
    case 'is_not':
      return loosely({ '!': [{ in: [subject, values] }] })
    case 'text_starts_with':
      return any(values.map(part => ({ starts_with: [subject, String(part)] })))
    case 'text_ends_with':
      return any(values.map(part => ({ ends_with: [subject, String(part)] })))
    case 'text_contains':
      return any(values.map(part => ({ and: [isPresent, { in: [String(part), subject] }] })))
    case 'starts_with':
      return loosely(any(values.map(part => ({ starts_with: [subject, String(part)] }))))
    case 'ends_with':
      return loosely(any(values.map(part => ({ ends_with: [subject, String(part)] }))))
    case 'icontains':
    case 'icontains_multi':
      return loosely(any(values.map(part => ({ and: [isPresent, { in: [String(part), subject] }] }))))
    case 'number_eq':
      return compare('==')
    case 'number_gt':
      return compare('>')
    case 'number_gte':
      return compare('>=')
    case 'number_lt':
      return compare('<')
    case 'number_lte':
      return compare('<=')
    case 'version_eq':
      return version('=')
    case 'version_gt':
      return version('>')
    case 'version_gte':
      return version('>=')
    case 'version_lt':
      return version('<')
    case 'version_lte':
      return version('<=')
    case 'is_set':
      return isPresent
    case 'is_not_set':
      return { '==': [subject, null] }
    default:
      return notes.refuse(`flagd has no equivalent of the operator ${operator}.`)
  }
}
