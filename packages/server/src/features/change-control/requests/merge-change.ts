import { isDeepStrictEqual } from 'node:util'
import type { FreeObject } from '../../../domain/change-request.ts'

/** The outcome of a three-way merge: the fields to write, and the paths that both sides changed differently. */
export interface Merge {
  readonly fields: FreeObject
  readonly conflicts: readonly string[]
}

/**
 * Rebases a patch onto what was saved since its base. A field that only one side changed takes that side's value; `filters` are merged by
 * condition, variants and payload, so that two people can edit two conditions.
 */
export function mergeChange(base: FreeObject, patch: FreeObject, current: FreeObject, winner: Winner = 'mine'): Merge {
  const conflicts: string[] = []
  const fields: Record<string, unknown> = {}
  for (const [field, mine] of Object.entries(patch)) {
    const merged =
      field === 'filters' && isObject(base[field]) && isObject(mine) && isObject(current[field])
        ? mergeFilters(winner, base[field], mine, current[field])
        : mergeValue(winner, field, base[field], mine, current[field])
    conflicts.push(...merged.conflicts)
    fields[field] = merged.value
  }
  return { fields, conflicts }
}

interface MergedValue {
  readonly value: unknown
  readonly conflicts: readonly string[]
}

/** Whose value is taken where both sides changed the same. */
type Winner = 'mine' | 'theirs'

function mergeValue(winner: Winner, path: string, base: unknown, mine: unknown, theirs: unknown): MergedValue {
  if (isDeepStrictEqual(theirs, base) || isDeepStrictEqual(theirs, mine)) return { value: mine, conflicts: [] }
  if (isDeepStrictEqual(mine, base)) return { value: theirs, conflicts: [] }
  return { value: winner === 'mine' ? mine : theirs, conflicts: [path] }
}

function mergeFilters(winner: Winner, ...filters: Sides<FreeObject>): MergedValue {
  const mergeOther: MergeKey = (_key, path, ...sides) => mergeValue(winner, path, ...sides)
  const mergeMultivariate: MergeKey = (key, path, ...sides) =>
    key === 'variants' && sides.every(isVariantList)
      ? mergeVariants(winner, path, ...(sides as Sides<readonly Variant[]>))
      : mergeValue(winner, path, ...sides)
  return mergeKeys('filters', ...filters, (key, path, ...sides) => {
    if (key === 'groups' && sides.every(Array.isArray)) {
      return mergeList(winner, path, ...(sides as Sides<readonly unknown[]>))
    }
    if (key === 'payloads' && sides.every(isObject)) return mergeKeys(path, ...(sides as Sides<FreeObject>), mergeOther)
    if (key === 'multivariate' && sides.every(isObject)) {
      return mergeKeys(path, ...(sides as Sides<FreeObject>), mergeMultivariate)
    }
    return mergeValue(winner, path, ...sides)
  })
}

interface Variant extends FreeObject {
  readonly key: string
}
const isVariantList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(variant => isObject(variant) && typeof variant.key === 'string') &&
  new Set(value.map(({ key }) => key)).size === value.length

/** Percentages add up to 100, so which variants there are and their split belong together; the rest is merged by variant. */
function mergeVariants(winner: Winner, path: string, ...lists: Sides<readonly Variant[]>): MergedValue {
  const splitOf = (variants: readonly Variant[]) =>
    variants.map(({ key, rollout_percentage }) => [key, rollout_percentage])
  const [base, mine, theirs] = lists
  const split = mergeValue(winner, `${path}.split`, splitOf(base), splitOf(mine), splitOf(theirs))
  const conflicts = [...split.conflicts]
  const restOf = (variants: readonly Variant[], key: string) => {
    const match = variants.find(variant => variant.key === key)
    if (!match) return undefined
    const { rollout_percentage: _split, ...rest } = match
    return rest
  }
  const value = (split.value as [string, unknown][]).map(([key, percentage]) => {
    const [own, other] = [restOf(mine, key), restOf(theirs, key)]
    const merged = own && other ? mergeValue(winner, `${path}.${key}`, restOf(base, key), own, other) : undefined
    conflicts.push(...(merged?.conflicts ?? []))
    return { ...((merged?.value ?? own ?? other) as FreeObject), rollout_percentage: percentage }
  })
  return { value, conflicts }
}

type Sides<T> = [base: T, mine: T, theirs: T]

type MergeKey = (key: string, path: string, ...sides: Sides<unknown>) => MergedValue

/** Key by key; a key that is undefined in the result was removed. */
function mergeKeys(path: string, base: FreeObject, mine: FreeObject, theirs: FreeObject, merge: MergeKey): MergedValue {
  const conflicts: string[] = []
  const entries: [string, unknown][] = []
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const merged = merge(key, `${path}.${key}`, own(base, key), own(mine, key), own(theirs, key))
    conflicts.push(...merged.conflicts)
    if (merged.value !== undefined) entries.push([key, merged.value])
  }
  return { value: Object.fromEntries(entries), conflicts }
}

/** A variant may be called `constructor`. */
const own = (fields: FreeObject, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)

/** Conditions are matched by content, then by position between those that match. */
function mergeList(
  winner: Winner,
  path: string,
  base: readonly unknown[],
  mine: readonly unknown[],
  theirs: readonly unknown[],
): MergedValue {
  const [own, other] = [editsOf(base, mine), editsOf(base, theirs)]
  const conflicts: string[] = []
  const value: unknown[] = [...insertedBoth(own.inserted[0]!, other.inserted[0]!)]
  for (const [index, item] of base.entries()) {
    const merged = mergeValue(winner, `${path}.${index}`, item, own.items[index], other.items[index])
    conflicts.push(...merged.conflicts)
    if (merged.value !== undefined) value.push(merged.value)
    value.push(...insertedBoth(own.inserted[index + 1]!, other.inserted[index + 1]!))
  }
  return { value, conflicts }
}

/** Theirs first, since they were saved first; what both inserted is inserted once. */
const insertedBoth = (mine: readonly unknown[], theirs: readonly unknown[]): readonly unknown[] => [
  ...theirs,
  ...mine.filter(item => !theirs.some(other => isDeepStrictEqual(item, other))),
]

interface ListEdits {
  /** The new version of each item of the base; undefined when it was removed. */
  readonly items: readonly unknown[]
  /** What was inserted before each item of the base, and after the last. */
  readonly inserted: readonly (readonly unknown[])[]
}

function editsOf(base: readonly unknown[], next: readonly unknown[]): ListEdits {
  const items: unknown[] = base.map(() => undefined)
  const inserted: unknown[][] = Array.from({ length: base.length + 1 }, () => [])
  let [from, to] = [0, 0]
  const pairGap = (fromEnd: number, toEnd: number) => {
    for (; from < fromEnd && to < toEnd; from++, to++) items[from] = next[to]
    for (; to < toEnd; to++) inserted[fromEnd]!.push(next[to])
    from = fromEnd
  }
  for (const [n, m] of commonSubsequence(base, next)) {
    pairGap(n, m)
    items[n] = next[m]
    from = n + 1
    to = m + 1
  }
  pairGap(base.length, next.length)
  return { items, inserted }
}

/** Longer lists are compared by position only: the table below grows with the product of the lengths. */
const comparedItemsMax = 200

/** The longest run of equal items in the same order, as pairs of positions. */
function commonSubsequence(a: readonly unknown[], b: readonly unknown[]): readonly (readonly [number, number])[] {
  if (a.length > comparedItemsMax || b.length > comparedItemsMax) {
    return a.flatMap((item, n) => (n < b.length && isDeepStrictEqual(item, b[n]) ? [[n, n] as const] : []))
  }
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  const isEqual = a.map(item => b.map(other => isDeepStrictEqual(item, other)))
  for (let n = a.length - 1; n >= 0; n--) {
    for (let m = b.length - 1; m >= 0; m--) {
      lengths[n]![m] = isEqual[n]![m] ? 1 + lengths[n + 1]![m + 1]! : Math.max(lengths[n + 1]![m]!, lengths[n]![m + 1]!)
    }
  }
  const pairs: [number, number][] = []
  for (let [n, m] = [0, 0]; n < a.length && m < b.length; ) {
    if (isEqual[n]![m]) pairs.push([n++, m++])
    else if (lengths[n + 1]![m]! >= lengths[n]![m + 1]!) n++
    else m++
  }
  return pairs
}

const isObject = (value: unknown): value is FreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
