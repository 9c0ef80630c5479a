import {
  type Converter,
  flagEvaluatesTo,
  type ImportedCohort,
  type ImportedFlag,
  type ImportItem,
  type ImportOptions,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, textOr, textsIn } from '../document.ts'
import { all, always, any, cohortTreeOf, type Expression, filter, never, person } from '../expression.ts'
import { type FlagValues, filtersOf, type Rule } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertConstraints, propertyOf } from './constraints.ts'
import { bucketingBy, convertStrategy, type StrategyContext } from './convert-strategy.ts'
import { readDocument, type SourceFeature, type SourceSegment } from './read-document.ts'

export const convertUnleash: Converter = (document, options) => {
  const { environment, features, segments } = readDocument(document, options.environment)
  const cohorts = new Map<string, ImportedCohort>()
  const items: ImportItem[] = []
  for (const segment of segments) {
    const sourceId = `segment:${segment.id}`
    const { item, result } = judge({ kind: 'segment', sourceKey: segment.name, sourceId }, verdict =>
      convertSegment(segment, sourceId, verdict),
    )
    items.push(item)
    if (result !== undefined) cohorts.set(segment.id, result)
  }
  const segmentIds = new Set(segments.map(({ id }) => id))
  const cohortOf = (id: string) => (segmentIds.has(id) ? (cohorts.get(id)?.sourceId ?? null) : undefined)
  const byName = new Map(features.map(feature => [feature.name, feature]))
  const flags: ImportedFlag[] = []
  const wanted = features.filter(({ archived }) => !archived || options.includeArchived === true)
  for (const feature of wanted) {
    const { item, result } = judge({ kind: 'flag', sourceKey: feature.name, sourceId: feature.name }, verdict =>
      convertFeature(feature, byName, { verdict, cohortOf, featureName: feature.name, encoding: encodingOf(options) }),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  const archived = features.length - wanted.length
  return refuseDependents({ source: 'unleash', environment, flags, cohorts: [...cohorts.values()], archived, items })
}

/** The Node SDK hashes the low byte of each UTF-16 code unit. */
const encodingOf = ({ clientLanguage }: ImportOptions) => (clientLanguage === 'utf-8' ? 'utf-8' : 'latin-1')

function convertSegment({ constraints, name, path }: SourceSegment, sourceId: string, verdict: Verdict) {
  if (constraints === null) {
    return verdict.refuse('The export has no constraints of the segment; use the document that SDKs download.', path)
  }
  const tree = cohortTreeOf(convertConstraints(constraints, `${path}.constraints`, verdict), verdict, path)
  return { sourceId, name, content: { filters: { properties: tree } } }
}

function convertFeature(
  feature: SourceFeature,
  byName: ReadonlyMap<string, SourceFeature>,
  context: StrategyContext,
): ImportedFlag {
  const { verdict } = context
  const required = requirementOf(feature, byName, verdict)
  const values = new VariantValues(verdict)
  const strategies = feature.strategies.map(strategy => ({
    ...strategy,
    when: all([required, convertStrategy(strategy, context)]),
  }))
  const everyone = [{ path: feature.path, when: required, variants: [], parameters: {} as JsonRecord }]
  const rules = (strategies.length === 0 ? everyone : strategies).flatMap(
    ({ path, when, variants, parameters }): Rule[] => {
      const own = weighted(variants)
      const [chosen, seed, at] =
        own.length > 0
          ? ([own, parameters.groupId, `${path}.variants`] as const)
          : ([weighted(feature.variants), feature.name, `${feature.path}.variants`] as const)
      const first = chosen[0]
      if (first === undefined) return [{ when, serve: 'on', path }]
      const inherited = own.length > 0 ? textOr(parameters.stickiness, '') : ''
      const stickiness = textOr(first.stickiness, '') || inherited || 'default'
      return variantRules(chosen, { when, seed, stickiness, path: at }, values, context)
    },
  )
  return {
    sourceId: feature.name,
    key: feature.name,
    name: feature.description,
    active: feature.enabled,
    filters: { ...filtersOf(values, rules, verdict), ...(values.values.length > 0 && { payloads: values.payloads }) },
    tags: feature.tags,
    archived: feature.archived,
  }
}

/** Variants without any weight are never chosen. */
function weighted(variants: readonly unknown[]): JsonRecord[] {
  const records = variants.filter(isRecord)
  return records.some(({ weight }) => Number(weight) > 0) ? records : []
}

interface VariantContext {
  readonly when: Expression
  readonly seed: unknown
  readonly stickiness: string
  readonly path: string
}

/** Overrides come first; then everyone gets a variant by weight. */
function variantRules(
  variants: readonly JsonRecord[],
  { when, seed, stickiness, path }: VariantContext,
  values: VariantValues,
  context: StrategyContext,
): Rule[] {
  const overrides = variants.flatMap((variant): Rule[] => {
    const matches = listOf(variant.overrides).filter(isRecord)
    const isFor = any(
      matches.map(({ contextName, values: texts }) =>
        person(propertyOf(String(contextName)), 'text_equals', textsIn(texts)),
      ),
    )
    return matches.length === 0 ? [] : [{ when: all([when, isFor]), serve: values.indexOf(variant, path), path }]
  })
  const parts = variants.map(variant => ({
    result: values.indexOf(variant, path),
    weight: Number(variant.weight) || 0,
  }))
  const split = (by: string): Rule => ({
    when,
    serve: { bucketing: bucketingBy(by, { groupId: seed === undefined ? 'undefined' : seed }, context), parts },
    path,
  })
  // People without any identifier get a random variant there; here it is the first.
  const first: Rule = { when, serve: parts.find(({ weight }) => weight > 0)!.result, path }
  if (parts.filter(({ weight }) => weight > 0).length === 1) return [...overrides, first]
  if (stickiness === 'default' || stickiness === 'userId') return [...overrides, split('default'), first]
  context.verdict.differs(
    `Unleash gives people without "${stickiness}" a random variant at each call; here they keep theirs. Send it always.`,
    path,
  )
  return [...overrides, ...(stickiness === 'random' ? [] : [split(stickiness)]), split('default'), first]
}

/** The variants of all strategies, by name. */
class VariantValues implements FlagValues {
  readonly #verdict: Verdict
  readonly #values: { readonly value: unknown; readonly name: string; readonly payload: string | null }[] = []

  constructor(verdict: Verdict) {
    this.#verdict = verdict
  }

  get values() {
    return this.#values.map(({ name }) => ({ value: name, name }))
  }

  /** Payloads by variant name, as JSON. */
  get payloads(): Record<string, string> {
    return Object.fromEntries(this.#values.flatMap(({ name, payload }) => (payload === null ? [] : [[name, payload]])))
  }

  indexOf(variant: JsonRecord, path: string): number {
    const name = textOr(variant.name, '')
    const payload = payloadOf(variant.payload)
    const index = this.#values.findIndex(other => other.name === name)
    if (index === -1) return this.#values.push({ value: name, name, payload }) - 1
    if (this.#values[index]!.payload !== payload) {
      return this.#verdict.refuse(`Two variants "${name}" have different payloads; rename one.`, path)
    }
    return index
  }
}

/** Unleash keeps every payload as text; JSON and numbers are what their text says. */
function payloadOf(payload: unknown): string | null {
  if (!isRecord(payload) || typeof payload.value !== 'string') return null
  if (payload.type !== 'json' && payload.type !== 'number') return JSON.stringify(payload.value)
  try {
    return JSON.stringify(JSON.parse(payload.value))
  } catch {
    return JSON.stringify(payload.value)
  }
}

/** The parents that must be on or off. A parent that has a parent itself never fits. */
function requirementOf(
  { dependencies, path }: SourceFeature,
  byName: ReadonlyMap<string, SourceFeature>,
  verdict: Verdict,
): Expression {
  const required = dependencies.map((value, index): Expression => {
    const at = `${path}.dependencies[${index}]`
    if (!isRecord(value)) return verdict.refuse('A dependency must be an object.', at)
    const parent = byName.get(String(value.feature))
    if (parent === undefined || parent.dependencies.length > 0) return never
    if (value.enabled === false) return filter(flagEvaluatesTo(parent.name, false))
    const variants = textsIn(value.variants)
    if (variants.length === 0) return filter(flagEvaluatesTo(parent.name, true))
    if (variants.includes('disabled')) {
      return verdict.refuse(
        'A dependency on the variant "disabled" cannot be written; depend on the other variants.',
        `${at}.variants`,
      )
    }
    return any(variants.map(variant => filter(flagEvaluatesTo(parent.name, variant))))
  })
  return required.length === 0 ? always : all(required)
}
