import { type Encoding, encodings } from '../hash/vendors/units.ts'
import { type BucketingAlgorithmName, bucketingAlgorithmNames } from './bucketing-algorithm-name.ts'
import type { Report } from './issue.ts'
import { isRecord, type JsonRecord, own } from './json.ts'

/** How identifiers are assigned to a rollout or a split, when it is not PostHog's way. */
export interface ParsedBucketing {
  readonly algorithm: BucketingAlgorithmName
  readonly seed: string
  /** The property that is hashed; null for the identifier of the flag. */
  readonly by: string | null
  /** What the service puts directly before the identifier. */
  readonly identifierPrefix: string
  readonly encoding: Encoding
}

/** The distribution of the people in a condition among variants. */
export interface ParsedSplit {
  readonly path: string
  /** Null for that of the condition. */
  readonly bucketing: ParsedBucketing | null
  readonly parts: readonly SplitPart[]
}

export interface SplitPart {
  /** The key of a variant, or the value of the flag without one. */
  readonly variant: string | boolean
  /** In proportion to the other weights; 0 when there is a range. */
  readonly weight: number
  /** Positions from 0 to 1, the end excluded. */
  readonly range: readonly [from: number, to: number] | null
}

const seedLengthMax = 1000

/** Null when absent, undefined when it is invalid. */
export function parseBucketing(value: unknown, path: string, report: Report): ParsedBucketing | null | undefined {
  if (value === null || value === undefined) return null
  if (!isRecord(value)) return reject(report, 'wrong_type', path, '`bucketing` must be an object.')
  const algorithm = bucketingAlgorithmNames.find(name => name === own(value, 'algorithm'))
  if (algorithm === undefined) {
    const choices = bucketingAlgorithmNames.join(', ')
    return reject(report, 'invalid_value', `${path}.algorithm`, `\`algorithm\` must be one of ${choices}.`)
  }
  const seed = own(value, 'seed') ?? ''
  if (typeof seed !== 'string' || seed.length > seedLengthMax) {
    return reject(report, 'wrong_type', `${path}.seed`, '`seed` must be a string of at most 1,000 characters.')
  }
  const by = own(value, 'by') ?? null
  if (by !== null && (typeof by !== 'string' || by === '')) {
    return reject(report, 'wrong_type', `${path}.by`, '`by` must be the name of a property.')
  }
  const identifierPrefix = own(value, 'identifier_prefix') ?? ''
  if (typeof identifierPrefix !== 'string' || identifierPrefix.length > seedLengthMax) {
    const message = '`identifier_prefix` must be a string of at most 1,000 characters.'
    return reject(report, 'wrong_type', `${path}.identifier_prefix`, message)
  }
  const encoding = own(value, 'encoding') ?? 'utf-8'
  if (!encodings.includes(encoding as Encoding)) {
    const choices = encodings.join(', ')
    return reject(report, 'invalid_value', `${path}.encoding`, `\`encoding\` must be one of ${choices}.`)
  }
  return { algorithm, seed, by, identifierPrefix, encoding: encoding as Encoding }
}

/** Null when absent, undefined when it is invalid. */
export function parseSplit(value: unknown, path: string, report: Report): ParsedSplit | null | undefined {
  if (value === null || value === undefined) return null
  if (!isRecord(value)) return reject(report, 'wrong_type', path, '`split` must be an object with `variants`.')
  const bucketing = parseBucketing(own(value, 'bucketing'), `${path}.bucketing`, report)
  const variants = own(value, 'variants')
  if (!Array.isArray(variants) || variants.length === 0) {
    return reject(report, 'wrong_type', `${path}.variants`, '`variants` must be an array with at least one item.')
  }
  const parts = variants.map((item, index) => parsePart(item, `${path}.variants[${index}]`, report))
  if (bucketing === undefined || !parts.every(part => part !== undefined)) return undefined
  if (parts.some(({ range }) => (range === null) !== (parts[0]!.range === null))) {
    return reject(report, 'invalid_value', `${path}.variants`, 'Use either `weight` or `range` for all variants.')
  }
  if (parts[0]!.range === null && !parts.some(({ weight }) => weight > 0)) {
    return reject(report, 'invalid_value', `${path}.variants`, 'At least one `weight` must be above 0.')
  }
  return { path, bucketing, parts }
}

function parsePart(value: unknown, path: string, report: Report): SplitPart | undefined {
  if (!isRecord(value)) return reject(report, 'wrong_type', path, 'A variant of a split must be an object.')
  const partValue = own(value, 'value') ?? null
  const key = own(value, 'variant') ?? null
  if (partValue !== null && (typeof partValue !== 'boolean' || key !== null)) {
    return reject(report, 'invalid_value', `${path}.value`, '`value` must be true or false, without a `variant`.')
  }
  if (partValue === null && typeof key !== 'string') {
    return reject(report, 'wrong_type', `${path}.variant`, '`variant` must be the key of a variant.')
  }
  const variant = (partValue ?? key) as string | boolean
  return own(value, 'range') === undefined
    ? parseWeight(value, variant, path, report)
    : parseRange(value, variant, path, report)
}

function parseWeight(
  value: JsonRecord,
  variant: string | boolean,
  path: string,
  report: Report,
): SplitPart | undefined {
  const weight = own(value, 'weight')
  if (typeof weight !== 'number' || !(weight >= 0 && weight < 2 ** 31)) {
    return reject(report, 'out_of_range', `${path}.weight`, '`weight` must be a number of at least 0.')
  }
  return { variant, weight, range: null }
}

function parseRange(value: JsonRecord, variant: string | boolean, path: string, report: Report): SplitPart | undefined {
  const range = own(value, 'range')
  const [from, to] = Array.isArray(range) && range.length === 2 ? (range as unknown[]) : []
  if (typeof from !== 'number' || typeof to !== 'number' || !(from >= 0 && from <= to && to <= 1)) {
    return reject(report, 'out_of_range', `${path}.range`, '`range` must be [from, to] with 0 ≤ from ≤ to ≤ 1.')
  }
  return { variant, weight: 0, range: [from, to] }
}

function reject(report: Report, code: Parameters<Report>[0], path: string, message: string): undefined {
  report(code, path, message)
  return undefined
}
