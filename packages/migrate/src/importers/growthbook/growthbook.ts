import {
  type Bucketing,
  type Converter,
  flagEvaluatesTo,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireRecord, textOr } from '../document.ts'
import { all, always, any, type Expression, filter, not, person } from '../expression.ts'
import { type FlagValues, filtersOf, isBooleanFlag, type Result, type Rule, resultOf } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertCondition, propertyOf } from './conditions.ts'
import { fitsCondition } from './static-condition.ts'

interface Context {
  readonly verdict: Verdict
  readonly features: JsonRecord
  readonly savedGroups: JsonRecord
  readonly encoding: 'utf-16' | 'utf-8'
}

/** The payload that SDKs download, or its map of features. */
export const convertGrowthBook: Converter = (document, { clientLanguage }) => {
  const root = requireRecord(document, '', 'The document')
  if (typeof root.encryptedFeatures === 'string' && root.encryptedFeatures !== '') {
    throw new ImportFileError('The features are encrypted; decrypt them first.', 'encryptedFeatures')
  }
  const hasEnvelope = isRecord(root.features)
  const features = hasEnvelope ? (root.features as JsonRecord) : root
  const savedGroups = hasEnvelope && isRecord(root.savedGroups) ? root.savedGroups : {}
  const start = hasEnvelope ? 'features.' : ''
  const flags: ImportedFlag[] = []
  const items: ImportItem[] = []
  for (const [key, value] of Object.entries(features)) {
    const path = `${start}${key}`
    const feature = requireRecord(value, path, 'A feature')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId: key }, verdict =>
      convertFeature(key, feature, path, {
        verdict,
        features,
        savedGroups,
        encoding: clientLanguage === 'utf-8' ? 'utf-8' : 'utf-16',
      }),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  return refuseDependents({ source: 'growthbook', environment: null, flags, cohorts: [], items })
}

function convertFeature(key: string, feature: JsonRecord, path: string, context: Context): ImportedFlag {
  const values = valuesOf(feature)
  const rules = listOf(feature.rules).flatMap((rule, index) => {
    const at = `${path}.rules[${index}]`
    if (!isRecord(rule)) return context.verdict.refuse('A rule must be an object.', at)
    return convertRule(key, rule, at, values, context)
  })
  return {
    sourceId: key,
    key,
    name: textOr(feature.description, ''),
    active: true,
    filters: filtersOf(
      values,
      [...rules, { when: always, serve: values.resultFor(feature.defaultValue), path }],
      context.verdict,
    ),
    tags: [],
    archived: false,
  }
}

class Values implements FlagValues {
  readonly values: readonly { readonly value: unknown }[]
  readonly #indexes: ReadonlyMap<string, number>

  constructor(values: readonly unknown[]) {
    const distinct = new Map<string, unknown>()
    for (const value of values) if (value !== null && value !== undefined) distinct.set(JSON.stringify(value), value)
    this.values = [...distinct.values()].map(value => ({ value }))
    this.#indexes = new Map([...distinct.keys()].map((text, index) => [text, index]))
  }

  /** A feature without a value is off. */
  resultFor(value: unknown): Result {
    return value === null || value === undefined ? 'off' : this.#indexes.get(JSON.stringify(value))!
  }
}

function valuesOf(feature: JsonRecord): Values {
  const rules = listOf(feature.rules).filter(isRecord)
  const served = rules.flatMap(rule => ('force' in rule ? [rule.force] : listOf(rule.variations)))
  return new Values([feature.defaultValue, ...served])
}

/** Also a closed gate leaves a feature without a value. */
function canBeNull({ defaultValue, rules }: JsonRecord): boolean {
  const isNull = (value: unknown) => value === null || value === undefined
  return (
    isNull(defaultValue) ||
    listOf(rules)
      .filter(isRecord)
      .some(
        rule =>
          ('force' in rule ? isNull(rule.force) : listOf(rule.variations).some(isNull)) ||
          listOf(rule.parentConditions).some(parent => isRecord(parent) && parent.gate === true),
      )
  )
}

function convertRule(key: string, rule: JsonRecord, path: string, values: Values, context: Context): Rule[] {
  const { verdict } = context
  if (listOf(rule.scheduleRules).length > 0) {
    verdict.note(
      'The rule is imported as it is now, without its schedule; schedule the change here.',
      `${path}.scheduleRules`,
    )
  }
  if (rule.contextualVariations !== undefined)
    return verdict.refuse('Contextual bandits are not imported; replace the rule by an experiment.', path)
  if (typeof rule.fallbackAttribute === 'string') {
    verdict.differs(
      'Sticky buckets are not imported, so the fallback attribute is not used; bucket by one attribute.',
      path,
    )
  }
  const { gates, required } = prerequisites(rule, path, context)
  const condition =
    rule.condition === undefined ? always : convertCondition(rule.condition, `${path}.condition`, context)
  const namespaces = namespacesOf(rule, path, context)
  const when = (...parts: readonly Expression[]) => all([...required, condition, ...namespaces, ...parts])
  if ('force' in rule) {
    const result = values.resultFor(rule.force)
    const served = forceRule(key, rule, path, result, context)
    return [...gates, ...(served === null ? [] : [{ path, when: when(...served.parts), serve: served.serve }])]
  }
  const variations = listOf(rule.variations)
  if (variations.length < 2) return gates
  if (listOf(rule.meta).some(entry => isRecord(entry) && entry.passthrough === true)) {
    return verdict.refuse('Holdouts are not imported; add a holdout to the flag here.', `${path}.meta`)
  }
  const bucketing = bucketingOf(textOr(rule.seed, '') || textOr(rule.key, '') || key, rule, context)
  if (bucketing === null) return gates
  const hashed = hashableBy(bucketing, path, context)
  const ranges = Array.isArray(rule.ranges)
    ? rule.ranges.map(readRange)
    : rangesOf(variations.length, rule.coverage, rule.weights)
  const parts = ranges.flatMap((range, index) =>
    index < variations.length ? [{ result: values.resultFor(variations[index]), range: clamped(range) }] : [],
  )
  return [...gates, { path, when: when(hashed), serve: { bucketing, parts } }]
}

interface Served {
  readonly parts: readonly Expression[]
  readonly serve: Rule['serve']
}

/** Null when no one is included. */
function forceRule(key: string, rule: JsonRecord, path: string, result: Result, context: Context): Served | null {
  const { range, coverage } = rule
  if (!Array.isArray(range) && coverage === undefined) return { parts: [], serve: result }
  if (!Array.isArray(range) && coverage === 0) return null
  const bucketing = bucketingOf(textOr(rule.seed, '') || key, rule, context)
  if (bucketing === null) return null
  const hashed = hashableBy(bucketing, path, context)
  if (Array.isArray(range)) {
    return { parts: [hashed], serve: { bucketing, parts: [{ result, range: clamped(readRange(range)) }] } }
  }
  if (typeof coverage !== 'number') return context.verdict.refuse('`coverage` must be a number.', `${path}.coverage`)
  return { parts: [hashed, upTo(position => position <= coverage, bucketing)], serve: result }
}

const gridOf = ({ algorithm }: Bucketing): number => (algorithm === 'growthbook_v1' ? 1000 : 10_000)

/** Positions lie on a grid. A percentage between two of its points cannot be rounded to the wrong side. */
function upTo(includes: (position: number) => boolean, bucketing: Bucketing): Expression {
  const grid = gridOf(bucketing)
  let count = 0
  while (count < grid && includes(count / grid)) count++
  const percentage = count === 0 ? 0 : Math.min(((count - 0.5) / grid) * 100, 100)
  const isNone = count === 0
  return isNone ? any([]) : { kind: 'rollout', rollout: { percentage, bucketing } }
}

/** Null for a version of the hash that GrowthBook does not know: then no one is included. */
function bucketingOf(
  seed: string,
  { hashAttribute, hashVersion }: JsonRecord,
  { encoding }: Context,
): Bucketing | null {
  const version = hashVersion || 1
  if (version !== 1 && version !== 2) return null
  const by = propertyOf(textOr(hashAttribute, '') || 'id')
  return { algorithm: `growthbook_v${version}`, seed, encoding, ...(by !== 'distinct_id' && { by }) }
}

/** Attributes that JavaScript takes for false are not hashed. */
function hashableBy({ by }: Bucketing, path: string, { verdict }: Context): Expression {
  if (by === undefined) return always
  verdict.differs(`GrowthBook also hashes lists and objects; send "${by}" as text, a number or a boolean.`, path)
  return not(person(by, 'json_one_of', [0, false]))
}

type Range = readonly [number, number]

const readRange = (value: unknown): Range => {
  const [from, to] = listOf(value)
  return [Number(from), Number(to)]
}

const clamped = ([from, to]: Range): Range => {
  const start = Math.min(Math.max(from, 0), 1)
  return [start, Math.min(Math.max(to, start), 1)]
}

/** As GrowthBook does it, with its rounding and its corrections of bad weights. */
function rangesOf(count: number, coverage: unknown, configuredWeights: unknown): Range[] {
  const covered = Math.min(Math.max(typeof coverage === 'number' ? coverage : 1, 0), 1)
  const equal = Array.from({ length: count }, () => 1 / count)
  const weights =
    Array.isArray(configuredWeights) && configuredWeights.length === count ? configuredWeights.map(Number) : equal
  const sum = weights.reduce((total, weight) => weight + total, 0)
  let start = 0
  return (sum < 0.99 || sum > 1.01 ? equal : weights).map((weight): Range => {
    const range: Range = [start, start + covered * weight]
    start += weight
    return range
  })
}

/** Namespaces are a second hash. Halyard's conditions have one beside the split, which starts at 0. */
function namespacesOf(rule: JsonRecord, path: string, context: Context): Expression[] {
  const filters = listOf(rule.filters).filter(isRecord)
  if (filters.length > 0) {
    return filters.map((entry, index) => {
      const bucketing = bucketingOf(
        textOr(entry.seed, ''),
        { hashAttribute: entry.attribute, hashVersion: entry.hashVersion || 2 },
        context,
      )
      const ranges = listOf(entry.ranges).map(readRange)
      return bucketing === null ? any([]) : fromStart(ranges, bucketing, `${path}.filters[${index}]`, context)
    })
  }
  if (!Array.isArray(rule.namespace) || 'force' in rule) return []
  const [name, from, to] = rule.namespace as unknown[]
  const bucketing = bucketingOf(`__${String(name)}`, { hashAttribute: rule.hashAttribute, hashVersion: 1 }, context)!
  return [fromStart([[Number(from), Number(to)]], bucketing, `${path}.namespace`, context)]
}

function fromStart(ranges: readonly Range[], bucketing: Bucketing, path: string, { verdict }: Context): Expression {
  const [range] = ranges
  if (ranges.length !== 1 || range![0] > 0) {
    return verdict.refuse('A namespace must start at 0 here; give the experiment the first part of it.', path)
  }
  return upTo(position => position < range![1], bucketing)
}

/** A gate that is closed turns the feature off; otherwise only the rule is skipped. */
function prerequisites(rule: JsonRecord, path: string, { features, verdict }: Context) {
  const gates: Rule[] = []
  const required: Expression[] = []
  for (const [index, parent] of listOf(rule.parentConditions).entries()) {
    const at = `${path}.parentConditions[${index}]`
    if (!isRecord(parent)) return verdict.refuse('A prerequisite must be an object.', at)
    const id = String(parent.id)
    const other = features[id]
    if (!isRecord(other)) return verdict.refuse(`There is no feature "${id}" in the file; add it.`, `${at}.id`)
    const fits = (value: unknown): boolean => {
      const result = fitsCondition(value, parent.condition)
      return (
        result ??
        verdict.refuse(
          'This condition on another feature cannot be written; compare its value with $eq or $in.',
          `${at}.condition`,
        )
      )
    }
    const values = valuesOf(other)
    const hasFalse = values.values.some(({ value }) => value === false)
    if (hasFalse && isBooleanFlag(values) && canBeNull(other) && fits(false) !== fits(null)) {
      return verdict.refuse(
        `Here "${id}" is off both for false and for no value; give it a default value.`,
        `${at}.condition`,
      )
    }
    const met = any([
      ...values.values.flatMap(({ value }, place) =>
        fits(value) ? [filter(flagEvaluatesTo(id, resultOf(values, place)))] : [],
      ),
      ...(fits(null) && !(hasFalse && isBooleanFlag(values)) ? [filter(flagEvaluatesTo(id, false))] : []),
    ])
    if (parent.gate === true) gates.push({ path: at, when: all([...required, not(met)]), serve: 'off' })
    required.push(met)
  }
  return { gates, required }
}
