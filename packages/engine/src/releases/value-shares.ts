import type { SplitPart } from '../definition/parse-bucketing.ts'
import type { ParsedVariant } from '../definition/parse-filters.ts'
import type { FlagValue } from '../explain/reachable-values.ts'

/** A set of values of a flag, without `false`: the values whose release is measured. */
export type TargetValues = (value: FlagValue) => boolean

/** How the people in a condition are distributed among the values of the flag. */
export interface ValueShares {
  readonly spans: readonly Span[]
  /** Outcomes with the same hash give a subject the same position; null when everyone gets one value. */
  readonly hash: string | null
}

interface Span {
  readonly value: FlagValue
  readonly from: number
  readonly to: number
}

export const oneValue = (value: FlagValue): ValueShares => ({ spans: [{ value, from: 0, to: 1 }], hash: null })

export const offForEveryone: ValueShares = oneValue(false)

/** People beyond the last variant get `true`, as do those of a variant with an empty key. */
export function variantShares(variants: readonly ParsedVariant[], hash: string): ValueShares {
  const spans: Span[] = []
  let from = 0
  for (const { key, percentage } of variants) {
    const to = Math.min(Math.max(from + percentage / 100, from), 1)
    spans.push({ value: key || true, from, to })
    from = to
  }
  if (from < 1) spans.push({ value: true, from, to: 1 })
  return { spans, hash }
}

/** Positions are those of the parts in their order: algorithms differ in theirs, so only equal splits compare. */
export function splitShares(
  parts: readonly SplitPart[],
  isVariant: (key: string) => boolean,
  hash: string,
): ValueShares {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const spans: Span[] = []
  let from = 0
  for (const { variant, weight, range } of parts) {
    const to = Math.min(from + (range ? range[1] - range[0] : weight / total), 1)
    // A part for a variant that does not exist includes no one.
    if (typeof variant !== 'string' || isVariant(variant)) spans.push({ value: variant || variant === '', from, to })
    from = to
  }
  return { spans, hash: JSON.stringify([hash, parts]) }
}

/** The share of people, from 0 to 1, who get one of the values. */
export const shareOf = ({ spans }: ValueShares, isTarget: TargetValues): number =>
  spans.reduce((sum, { value, from, to }) => (isTarget(value) ? sum + to - from : sum), 0)

/** At most this share of people get one of the values by `after` and none of them by `before`. */
export function newShare(before: ValueShares, after: ValueShares, isTarget: TargetValues): number {
  const total = shareOf(after, isTarget)
  const had = shareOf(before, isTarget)
  if (had >= 1 - precision || total === 0) return 0
  if (after.hash === null) return 1 - had
  if (before.hash !== after.hash) return total
  const shared = overlap(before, after, isTarget)
  return Math.max(total - shared, 0)
}

const precision = 1e-12

function overlap(before: ValueShares, after: ValueShares, isTarget: TargetValues): number {
  let sum = 0
  for (const a of before.spans) {
    if (!isTarget(a.value)) continue
    for (const b of after.spans) {
      if (isTarget(b.value)) sum += Math.max(Math.min(a.to, b.to) - Math.max(a.from, b.from), 0)
    }
  }
  return sum
}
