import { own, readFilters } from '../../filters.ts'
import { type Draft, draftToWire } from '../draft.ts'

/** Two edits of the same place. */
export interface Collision {
  /** Such as `name` or `filters.groups[0]`. */
  readonly path: string
  readonly base: unknown
  readonly theirs: unknown
  readonly mine: unknown
}

export type Choice = 'theirs' | 'mine'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Merges two edits of the same version: what only one of them changed is taken from it. `choices` decides collisions by
 * path; an undecided one keeps mine and is reported.
 */
export function mergeDrafts(
  base: Draft,
  theirs: Draft,
  mine: Draft,
  choices: Readonly<Record<string, Choice>> = {},
): { draft: Draft; collisions: readonly Collision[] } {
  const collisions: Collision[] = []
  const merge: MergePlace = (path, ...values) => {
    const [before, other, own] = values
    if (isSame(own, before) || isSame(own, other)) return other
    if (isSame(other, before)) return own
    const choice = choices[path]
    if (choice === undefined) collisions.push({ path, base: before, theirs: other, mine: own })
    return choice === 'theirs' ? other : own
  }
  const wires = [base, theirs, mine].map(draft => draftToWire(draft) as unknown as JsonObject) as unknown as Triple
  const fields = Object.keys(mine).filter(field => field !== 'filters' && field !== 'tags')
  const simple = Object.fromEntries(fields.map(field => [field, merge(field, ...at(wires, field))]))
  const filters = mergeFilters(merge, at(wires, 'filters').map(objectOf) as unknown as Triple)
  const draft = { ...simple, tags: mergeTags(base.tags, theirs.tags, mine.tags), filters: readFilters(filters) }
  return { draft: draft as unknown as Draft, collisions }
}

type Triple = readonly [JsonObject, JsonObject, JsonObject]
type MergePlace = (path: string, base: unknown, theirs: unknown, mine: unknown) => unknown

const at = (objects: Triple, field: string): [unknown, unknown, unknown] => [
  own(objects[0], field),
  own(objects[1], field),
  own(objects[2], field),
]

/** Conditions are merged one by one as long as none was added, removed or moved. */
function mergeFilters(merge: MergePlace, all: Triple): JsonObject {
  return mergeKeys(all, field => {
    const values = at(all, field)
    const path = `filters.${field}`
    if (field === 'payloads') {
      const payloads = values.map(objectOf) as unknown as Triple
      return mergeKeys(payloads, key => merge(`${path}.${key}`, ...at(payloads, key)))
    }
    const lists = values.map(value => (Array.isArray(value) ? (value as unknown[]) : undefined))
    const [first, second, third] = lists
    if (field !== 'groups' || !first || !second || !third || first.length !== second.length) {
      return merge(path, ...values)
    }
    if (first.length !== third.length) return merge(path, ...values)
    return first.map((group, index) => merge(`${path}[${index}]`, group, second[index], third[index]))
  })
}

function mergeKeys(all: Triple, merged: (field: string) => unknown): JsonObject {
  const fields = [...new Set(all.flatMap(object => Object.keys(object)))]
  return Object.fromEntries(fields.map(field => [field, merged(field)]).filter(([, value]) => value !== undefined))
}

/** Tags are a set: what either side added or removed. */
function mergeTags(base: readonly unknown[], theirs: readonly unknown[], mine: readonly unknown[]): unknown[] {
  const keys = (tags: readonly unknown[]) => new Map(tags.map(tag => [JSON.stringify(tag), tag]))
  const [before, other, own] = [keys(base), keys(theirs), keys(mine)]
  const kept = [...other].filter(([key]) => own.has(key) || !before.has(key))
  const added = [...own].filter(([key]) => !before.has(key) && !other.has(key))
  return [...kept, ...added].map(([, tag]) => tag)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
