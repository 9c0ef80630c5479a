import type { Report } from './issue.ts'
import { isDeeperThan, isRecord, type JsonRecord, own } from './json.ts'
import { type ParsedBucketing, type ParsedSplit, parseBucketing, parseSplit } from './parse-bucketing.ts'
import { type ParsedProperty, parseProperty } from './parse-property.ts'
import { checkReturnType } from './return-type.ts'

/** The parsed filters of a flag. Everything in it has been checked for type. */
export interface ParsedFilters {
  readonly conditions: readonly ParsedCondition[]
  readonly variants: readonly ParsedVariant[]
  /** JSON text by variant key, or by `true`. */
  readonly payloads: ReadonlyMap<string, string>
  /** The keys that `payloads` has, also those whose payload is empty. */
  readonly payloadKeys: readonly string[]
  /** The group type index that the flag is about, as text; null for persons. */
  readonly aggregation: string | null
  readonly enrollment: boolean
  readonly superCondition: ParsedCondition | null
  readonly holdout: ParsedHoldout | null
  readonly earlyExit: boolean
  /** Null for PostHog's. */
  readonly bucketing: ParsedBucketing | null
}

export interface ParsedCondition {
  readonly path: string
  readonly properties: readonly ParsedProperty[]
  /** Null means 100. */
  readonly percentage: number | null
  readonly variant: string | null
  /** The flag is off for the people in this condition. */
  readonly isOff: boolean
  /** A group type index as text, null for persons, or undefined to inherit from the flag. */
  readonly aggregation: string | null | undefined
  /** Null for that of the flag. */
  readonly bucketing: ParsedBucketing | null
  readonly split: ParsedSplit | null
}

export interface ParsedVariant {
  readonly key: string
  readonly percentage: number
}

export interface ParsedHoldout {
  readonly variant: string
  readonly percentage: number
}

/** Each pair of a condition and a variant is an outcome with a prepared response, so their number is bounded. */
const outcomesMax = 16_384
const filtersDepthMax = 100

/** Parses filters. Reports wrong types and returns undefined: such a flag cannot be evaluated. */
export function parseFilters(filters: unknown, report: Report): ParsedFilters | undefined {
  if (filters === null || filters === undefined) return parseRecord({}, report)
  if (!isRecord(filters)) return wrong(report, 'filters', '`filters` must be an object.')
  if (isDeeperThan(filters, filtersDepthMax))
    return wrong(report, 'filters', '`filters` is nested too deeply; the limit is 100 levels.')
  return parseRecord(filters, report)
}

function parseRecord(filters: JsonRecord, report: Report): ParsedFilters | undefined {
  const conditions = parseConditions(own(filters, 'groups'), 'filters.groups', report)
  const superConditions = parseConditions(own(filters, 'super_groups'), 'filters.super_groups', report)
  const variants = parseVariants(own(filters, 'multivariate'), report)
  const payloads = parsePayloads(own(filters, 'payloads'), report)
  const aggregation = parseGroupIndex(filters, 'filters', report)
  const holdout = parseHoldout(own(filters, 'holdout'), report)
  const bucketing = parseBucketing(own(filters, 'bucketing'), 'filters.bucketing', report)
  if (!conditions || !superConditions || !variants || !payloads || aggregation === false || holdout === undefined) {
    return undefined
  }
  if (bucketing === undefined) return undefined
  checkReturnType(filters, payloads.payloads, report)
  if ((conditions.length + 1) * (variants.length + 4) > outcomesMax) {
    report('too_large', 'filters', 'There are too many conditions and variants; their product must stay below 16,384.')
    return undefined
  }
  return {
    conditions,
    variants,
    payloads: payloads.payloads,
    payloadKeys: payloads.payloadKeys,
    aggregation: aggregation ?? null,
    enrollment: parseSwitch(filters, 'feature_enrollment', report) === true,
    superCondition: superConditions[0] ?? null,
    holdout,
    earlyExit: Boolean(parseSwitch(filters, 'early_exit', report)),
    bucketing,
  }
}

function parseSwitch(filters: JsonRecord, key: string, report: Report): unknown {
  const value = own(filters, key) ?? false
  if (typeof value !== 'boolean') report('wrong_type', `filters.${key}`, 'Must be true or false.')
  return value
}

function wrong(report: Report, path: string, message: string): undefined {
  report('wrong_type', path, message)
  return undefined
}

function parseConditions(value: unknown, path: string, report: Report): ParsedCondition[] | undefined {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) return wrong(report, path, 'Conditions must be an array.')
  const conditions = value.map((item, index) => parseCondition(item, `${path}[${index}]`, report))
  return conditions.every(condition => condition !== undefined) ? conditions : undefined
}

function parseCondition(value: unknown, path: string, report: Report): ParsedCondition | undefined {
  if (!isRecord(value)) return wrong(report, path, 'A condition must be an object.')
  const properties = parseProperties(own(value, 'properties'), `${path}.properties`, report)
  const percentage = own(value, 'rollout_percentage') ?? null
  const variant = own(value, 'variant') ?? null
  const aggregation = parseGroupIndex(value, path, report)
  if (percentage !== null && !isFiniteNumber(percentage)) {
    return wrong(report, `${path}.rollout_percentage`, 'The percentage must be a number.')
  }
  if (variant !== null && typeof variant !== 'string') {
    return wrong(report, `${path}.variant`, '`variant` must be the key of a variant.')
  }
  const bucketing = parseBucketing(own(value, 'bucketing'), `${path}.bucketing`, report)
  const split = parseSplit(own(value, 'split'), `${path}.split`, report)
  if (properties === undefined || aggregation === false || bucketing === undefined || split === undefined)
    return undefined
  const isOff = parseOff(value, variant !== null || split !== null, path, report)
  return { path, properties, percentage, variant: variant || null, isOff, aggregation, bucketing, split }
}

/** `value: false` makes a condition that turns the flag off. */
function parseOff(condition: JsonRecord, hasVariant: boolean, path: string, report: Report): boolean {
  const value = own(condition, 'value') ?? null
  if (value === null) return false
  if (value !== false) report('invalid_value', `${path}.value`, '`value` of a condition must be false or null.')
  if (hasVariant) report('invalid_value', `${path}.value`, 'Use either `value` or `variant` and `split`.')
  return value === false
}

function parseProperties(value: unknown, path: string, report: Report): ParsedProperty[] | undefined {
  if (value === null || value === undefined) return []
  if (!Array.isArray(value)) return wrong(report, path, '`properties` must be an array.')
  const properties = value.map((item, index) => parseProperty(item, `${path}[${index}]`, report))
  return properties.every(property => property !== undefined) ? properties : undefined
}

/** The index as text, null, undefined when the key is absent, or false when it is invalid. */
function parseGroupIndex(holder: JsonRecord, path: string, report: Report): string | null | undefined | false {
  const value = own(holder, 'aggregation_group_type_index')
  if (value === null || value === undefined) return value
  if (typeof value === 'number' || typeof value === 'string') return String(value)
  report('wrong_type', `${path}.aggregation_group_type_index`, 'The group type index must be a number from 0 to 4.')
  return false
}

function parseVariants(multivariate: unknown, report: Report): ParsedVariant[] | undefined {
  if (multivariate === null || multivariate === undefined) return []
  if (!isRecord(multivariate))
    return wrong(report, 'filters.multivariate', '`multivariate` must be an object with `variants`.')
  const variants = own(multivariate, 'variants') ?? []
  if (!Array.isArray(variants)) return wrong(report, 'filters.multivariate.variants', '`variants` must be an array.')
  const parsed = variants.map((item, index) => parseVariant(item, `filters.multivariate.variants[${index}]`, report))
  return parsed.every(variant => variant !== undefined) ? parsed : undefined
}

function parseVariant(value: unknown, path: string, report: Report): ParsedVariant | undefined {
  if (!isRecord(value)) return wrong(report, path, 'A variant must be an object.')
  const key = own(value, 'key')
  const percentage = own(value, 'rollout_percentage')
  if (typeof key !== 'string') return wrong(report, `${path}.key`, 'A variant requires a `key`.')
  if (!isFiniteNumber(percentage))
    return wrong(report, `${path}.rollout_percentage`, 'A variant requires a `rollout_percentage`.')
  return { key, percentage }
}

type Payloads = Pick<ParsedFilters, 'payloads' | 'payloadKeys'>

const noPayloads: Payloads = { payloads: new Map(), payloadKeys: [] }

function parsePayloads(value: unknown, report: Report): Payloads | undefined {
  if (value === null || value === undefined) return noPayloads
  if (!isRecord(value)) return wrong(report, 'filters.payloads', '`payloads` must be an object.')
  const payloads = new Map<string, string>()
  for (const [key, payload] of Object.entries(value)) {
    const text = payloadText(payload)
    if (text !== undefined) payloads.set(key, text)
  }
  return { payloads, payloadKeys: Object.keys(value) }
}

/** A string already is JSON. Null and the empty string mean no payload. */
function payloadText(payload: unknown): string | undefined {
  if (payload === null || payload === undefined || payload === '') return undefined
  return typeof payload === 'string' ? payload : JSON.stringify(payload)
}

/** Without an id or a percentage there is no holdout. */
function parseHoldout(value: unknown, report: Report): ParsedHoldout | null | undefined {
  if (value === null || value === undefined) return null
  if (!isRecord(value)) return wrong(report, 'filters.holdout', '`holdout` must be an object.')
  const id = own(value, 'id') ?? null
  const percentage = own(value, 'exclusion_percentage') ?? null
  if (id === null || percentage === null) return null
  if (typeof id !== 'number' && typeof id !== 'string') {
    return wrong(report, 'filters.holdout.id', '`id` must be a number.')
  }
  if (!isFiniteNumber(percentage)) {
    return wrong(report, 'filters.holdout.exclusion_percentage', 'The percentage must be a number.')
  }
  if (percentage < 0 || percentage > 100) {
    report('out_of_range', 'filters.holdout.exclusion_percentage', 'The percentage must be between 0 and 100.')
  }
  return { variant: `holdout-${id}`, percentage: Math.min(Math.max(percentage, 0), 100) }
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
