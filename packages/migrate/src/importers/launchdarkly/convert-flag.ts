import { type Condition, type FlagFilters, flagEvaluatesTo, type ImportedFlag } from '../../model/model.ts'
import { isRecord, listOf, textOr, textsIn } from '../document.ts'
import { all, always, type Expression, filter } from '../expression.ts'
import { variationsOf } from '../variations.ts'
import { type ClauseContext, convertClauses, isUserKind, targetOf } from './clauses.ts'
import { LaunchDarklyConditions, type Outcomes } from './conditions.ts'
import type { SourceFlag } from './read-document.ts'
import { type RolloutContext, readServed, readVariation, type Served } from './rollout.ts'

export interface FlagContext extends ClauseContext {
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
  if (flag.variations.length === 0)
    return verdict.refuse('The flag has no variations; request the flags with summary=0.', `${flag.path}.variations`)
  const rollouts: RolloutContext = {
    verdict,
    key: flag.key,
    salt: textOr(state.salt, ''),
    variations: flag.variations.length,
  }
  const writer = new LaunchDarklyConditions(outcomesOf(flag), verdict)
  const write = (when: Expression, serve: Served, path: string, description = ''): Condition[] =>
    writer.ofRule({ when, serve, path, description })
  const off = readOff(flag, rollouts)
  const { required, alwaysFails } = readPrerequisites(flag, context)
  const rules = listOf(state.rules).flatMap((rule, index) => {
    const at = `${statePath}.rules[${index}]`
    if (!isRecord(rule)) return verdict.refuse('A rule must be an object.', at)
    // A rule without any list of clauses never matches; one with an empty list always does.
    if (!Array.isArray(rule.clauses)) return []
    const clauses = convertClauses(rule.clauses, `${at}.clauses`, context)
    return write(all([...required, ...clauses]), readServed(rule, at, rollouts), at, textOr(rule.description, ''))
  })
  const fallthroughPath = `${statePath}.fallthrough`
  const fallthrough = readServed(state.fallthrough, fallthroughPath, rollouts)
  const usual = 'variation' in fallthrough ? fallthrough.variation : fallthrough.rollout.shares[0]!.variation
  const isOn = state.on === true && !alwaysFails
  const offServes = off === null ? false : resultOf(flag, off)
  const servesOff = (description: string) => write(always, { variation: off! }, statePath, description)
  const groups = [
    // Off for everyone; the rules follow for the day on which this condition is removed.
    ...(!isOn && offServes !== false ? servesOff('Off') : []),
    ...readTargets(flag, rollouts, context).flatMap(({ when, variation, path }) =>
      write(all([...required, when]), { variation }, path, 'Targets'),
    ),
    ...rules,
    ...write(all(required), fallthrough, fallthroughPath),
    ...(required.length > 0 && offServes !== false ? servesOff('Prerequisites not met') : []),
  ]
  const conditions = withoutTrailingOff(groups)
  return {
    sourceId: flag.key,
    key: flag.key,
    name: flag.description,
    active: isOn ? true : offServes !== false,
    filters: {
      groups: conditions,
      ...(!isBoolean(flag) && variationsOf(flag.variations).filters(usual)),
      ...(refersToOthers(conditions) && serverOnly(rollouts)),
    },
    tags: flag.tags,
    archived: flag.archived,
  }
}

function outcomesOf(flag: SourceFlag): Outcomes {
  if (isBoolean(flag)) return variation => ({ value: flag.variations[variation]!.value === true })
  const { keys } = variationsOf(flag.variations)
  return variation => ({ variant: keys[variation]! })
}

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
      'Without an off variation the default in the code is served; here it is off. Choose an off variation first.',
      path,
    )
    return null
  }
  return readVariation(state.offVariation, path, context)
}

function readPrerequisites(flag: SourceFlag, { verdict, flag: find }: FlagContext) {
  const required: Expression[] = []
  let alwaysFails = false
  for (const [index, prerequisite] of listOf(flag.state.prerequisites).entries()) {
    const path = `${flag.statePath}.prerequisites[${index}]`
    if (!isRecord(prerequisite)) return verdict.refuse('A prerequisite must be an object.', path)
    const other = find(String(prerequisite.key))
    const variation = Number(prerequisite.variation)
    if (!other) {
      return verdict.refuse(`There is no flag "${String(prerequisite.key)}" in the file; add it.`, `${path}.key`)
    }
    if (!other.variations[variation]) {
      return verdict.refuse(`There is no variation ${variation}; choose one of the flag's.`, `${path}.variation`)
    }
    const result = resultOf(other, variation)
    if (other.variations.some((_, index) => index !== variation && resultOf(other, index) === result)) {
      return verdict.refuse(
        `Two variations of "${other.key}" have the same value; give each its own, since the flag depends on one.`,
        `${path}.variation`,
      )
    }
    // A prerequisite that is off fails, whatever it serves.
    if (other.state.on === true) required.push(filter(flagEvaluatesTo(other.key, result)))
    else alwaysFails = true
  }
  return { required, alwaysFails }
}

interface Targets {
  readonly when: Expression
  readonly variation: number
  readonly path: string
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

const isForUsers = (value: unknown): boolean => isRecord(value) && isUserKind(value.contextKind)

function readTarget(value: unknown, path: string, rollouts: RolloutContext, context: FlagContext): Targets[] {
  if (!isRecord(value)) return context.verdict.refuse('A target must be an object.', path)
  const keys = textsIn(value.values)
  const variation = readVariation(value.variation, `${path}.variation`, rollouts)
  if (keys.length === 0) return []
  const target = targetOf('key', value.contextKind)
  return [{ when: filter({ ...target, operator: 'text_equals', value: keys }), variation, path }]
}
