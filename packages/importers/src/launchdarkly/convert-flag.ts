import { isRecord, listOf, textOr, textsIn } from '../document.ts'
import { type Condition, type FlagFilters, flagEvaluatesTo, type ImportedFlag, type Property } from '../model.ts'
import { type Variations, variationsOf } from '../variations.ts'
import { type ClauseContext, convertClauses } from './clauses.ts'
import type { SourceFlag } from './read-document.ts'
import { type RolloutContext, readServed, readVariation, type Served } from './rollout.ts'

export interface FlagContext extends Omit<ClauseContext, 'within'> {
  /** Undefined when the document has no such flag. */
  readonly flag: (key: string) => SourceFlag | undefined
}

/** A flag of two booleans is on or off; every other flag has variants. */
const isBoolean = ({ variations }: SourceFlag): boolean =>
  variations.length > 0 && variations.every(({ value }) => typeof value === 'boolean')

/** The result that a dependency on the flag can name. */
function resultOf(flag: SourceFlag, variation: number): boolean | string {
  const value = flag.variations[variation]?.value
  return isBoolean(flag) ? value === true : variationsOf(flag.variations).keys[variation]!
}

/** LaunchDarkly's order: off, prerequisites, targets, rules, fallthrough. */
export function convertFlag(flag: SourceFlag, context: FlagContext): ImportedFlag {
  const { verdict } = context
  const { state, statePath } = flag
  if (flag.variations.length === 0) return verdict.refuse('The flag has no variations.', `${flag.path}.variations`)
  const rollouts: RolloutContext = {
    verdict,
    key: flag.key,
    salt: textOr(state.salt, ''),
    variations: flag.variations.length,
    groupType: context.groupType,
  }
  const writer = isBoolean(flag) ? booleanWriter(flag) : variantWriter(variationsOf(flag.variations))
  const off = readOff(flag, rollouts)
  const { required, alwaysFails } = readPrerequisites(flag, context)
  const rules = listOf(state.rules).flatMap((rule, index) => {
    const at = `${statePath}.rules[${index}]`
    if (!isRecord(rule)) return verdict.refuse('A rule must be an object.', at)
    const properties = convertClauses(rule.clauses, `${at}.clauses`, { ...context, within: 'flag' })
    const named = textOr(rule.description, '')
    return writer.conditions([...required, ...properties], readServed(rule, at, rollouts), named)
  })
  const fallthrough = readServed(state.fallthrough, `${statePath}.fallthrough`, rollouts)
  const usual = 'variation' in fallthrough ? fallthrough.variation : fallthrough.rollout.shares[0]!.variation
  const isOn = state.on === true && !alwaysFails
  const offServes = off === null ? false : resultOf(flag, off)
  const groups = [
    // Off for everyone; the rules follow for the day on which this condition is removed.
    ...(!isOn && offServes !== false ? writer.conditions([], { variation: off! }, 'Off') : []),
    ...readTargets(flag, rollouts, context).flatMap(({ properties, variation }) =>
      writer.conditions([...required, ...properties], { variation }, 'Targets'),
    ),
    ...rules,
    ...writer.conditions(required, fallthrough, ''),
    ...(required.length > 0 && offServes !== false
      ? writer.conditions([], { variation: off! }, 'Prerequisites not met')
      : []),
  ]
  const conditions = withoutTrailingOff(groups)
  return {
    sourceId: flag.key,
    key: flag.key,
    name: flag.description,
    active: state.on === true && !alwaysFails ? true : offServes !== false,
    filters: { groups: conditions, ...writer.filters(usual), ...(refersToOthers(conditions) && serverOnly(rollouts)) },
    tags: flag.tags,
    archived: flag.archived,
  }
}

interface ConditionWriter {
  conditions(properties: readonly Property[], served: Served, description: string): Condition[]
  filters(usual: number): Pick<FlagFilters, 'multivariate' | 'payloads'>
}

const booleanWriter = ({ variations }: SourceFlag): ConditionWriter => ({
  conditions: (properties, served, description) =>
    sharesOf(served).map(({ variation, ...share }) => ({
      ...conditionOf(properties, share, description),
      ...(variations[variation]!.value !== true && { value: false }),
    })),
  filters: () => ({}),
})

const variantWriter = ({ keys, filters }: Variations): ConditionWriter => ({
  conditions: (properties, served, description) =>
    sharesOf(served).map(({ variation, ...share }) => ({
      ...conditionOf(properties, share, description),
      variant: keys[variation]!,
    })),
  filters,
})

interface Share {
  readonly variation: number
  readonly upTo: number | null
  readonly bucketing?: Condition['bucketing']
  readonly groupType: number | null
}

/** Shares of a rollout become conditions with the same filters and the same bucket, each with the sum up to its end. */
function sharesOf(served: Served): Share[] {
  if ('variation' in served) return [{ variation: served.variation, upTo: null, groupType: null }]
  const { bucketing, groupType, shares } = served.rollout
  return shares.flatMap(share => {
    if (share.upTo === 0) return []
    return { ...share, groupType, ...(share.upTo !== null && bucketing && { bucketing }) }
  })
}

const conditionOf = (
  properties: readonly Property[],
  { upTo, bucketing, groupType }: Omit<Share, 'variation'>,
  description: string,
): Condition => ({
  properties: [...properties],
  rollout_percentage: upTo ?? 100,
  ...(bucketing && { bucketing }),
  ...(groupType !== null && { aggregation_group_type_index: groupType }),
  ...(description !== '' && { description }),
})

const refersToOthers = (groups: readonly Condition[]): boolean =>
  groups.some(({ properties }) => properties.some(({ type }) => type === 'flag' || type === 'cohort'))

/** PostHog SDKs ask the server for flags with bucketing. Alone they would skip a condition on what they cannot evaluate. */
const serverOnly = ({ key, salt }: RolloutContext): Pick<FlagFilters, 'bucketing'> => ({
  bucketing: { algorithm: 'launchdarkly', seed: `${key}.${salt}` },
})

/** What follows no condition is off anyway. */
function withoutTrailingOff(groups: readonly Condition[]): Condition[] {
  const last = groups.findLastIndex(({ value }) => value !== false)
  return groups.slice(0, last + 1)
}

/** Null when the SDK's default is served. */
function readOff({ state, statePath }: SourceFlag, context: RolloutContext): number | null {
  const path = `${statePath}.offVariation`
  if (state.offVariation === undefined || state.offVariation === null) {
    context.verdict.differs(
      'Without an off variation LaunchDarkly serves the default in the code; here it is off.',
      path,
    )
    return null
  }
  return readVariation(state.offVariation, path, context)
}

function readPrerequisites(flag: SourceFlag, { verdict, flag: find }: FlagContext) {
  const required: Property[] = []
  let alwaysFails = false
  for (const [index, prerequisite] of listOf(flag.state.prerequisites).entries()) {
    const path = `${flag.statePath}.prerequisites[${index}]`
    if (!isRecord(prerequisite)) return verdict.refuse('A prerequisite must be an object.', path)
    const other = find(String(prerequisite.key))
    const variation = Number(prerequisite.variation)
    if (!other) return verdict.refuse(`There is no flag "${String(prerequisite.key)}" in the file.`, `${path}.key`)
    if (!other.variations[variation]) return verdict.refuse(`There is no variation ${variation}.`, `${path}.variation`)
    // A prerequisite that is off fails, whatever it serves.
    if (other.state.on === true) required.push(flagEvaluatesTo(other.key, resultOf(other, variation)))
    else alwaysFails = true
  }
  return { required, alwaysFails }
}

interface Targets {
  readonly properties: readonly Property[]
  readonly variation: number
}

/** `contextTargets` gives the order; its entries for users are empty and stand for those of `targets`. */
function readTargets({ state, statePath }: SourceFlag, rollouts: RolloutContext, context: FlagContext): Targets[] {
  const users = listOf(state.targets).map((value, index) => ({ value, path: `${statePath}.targets[${index}]` }))
  const contexts = listOf(state.contextTargets).map((value, index) => ({
    value,
    path: `${statePath}.contextTargets[${index}]`,
  }))
  const ordered =
    contexts.length === 0 ? users : contexts.map(entry => (isForUsers(entry.value) ? ofUsers(entry) : entry))
  return ordered.flatMap(entry => (entry ? readTarget(entry.value, entry.path, rollouts, context) : []))

  function ofUsers({ value }: { readonly value: unknown }) {
    const wanted = isRecord(value) ? value.variation : undefined
    return users.find(({ value: target }) => isRecord(target) && target.variation === wanted)
  }
}

const isForUsers = (value: unknown): boolean =>
  isRecord(value) && (value.contextKind === undefined || value.contextKind === '' || value.contextKind === 'user')

function readTarget(value: unknown, path: string, rollouts: RolloutContext, context: FlagContext): Targets[] {
  const { verdict, groupType } = context
  if (!isRecord(value)) return verdict.refuse('A target must be an object.', path)
  const keys = textsIn(value.values)
  const variation = readVariation(value.variation, `${path}.variation`, rollouts)
  if (keys.length === 0) return []
  const named = { operator: 'text_equals', value: keys }
  if (isForUsers(value)) return [{ properties: [{ key: 'distinct_id', type: 'person', ...named }], variation }]
  const kind = String(value.contextKind)
  const index = groupType(kind)
  if (index === undefined) {
    return verdict.refuse(`The context kind "${kind}" needs a group type of the same name in the project.`, path)
  }
  return [{ properties: [{ key: '$group_key', type: 'group', group_type_index: index, ...named }], variation }]
}
