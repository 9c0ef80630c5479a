import type { Subject } from './definition.ts'
import { type JsonRecord, own, plainText } from './json.ts'
import type { Outcome } from './outcome.ts'
import type { Truth } from './truth.ts'

/** The person is bag 0; each group type that a snapshot knows is another. */
export const PERSON = 0

/** What is known while one subject is evaluated. */
export interface Run {
  readonly subject: Subject
  readonly now: number
  /** The properties by bag; undefined when the subject has no such group. */
  readonly bags: readonly (JsonRecord | undefined)[]
  /** What takes the part of the distinct id in each bag: the key of the group. */
  readonly groupKeys: readonly (string | number)[]
  /** The truths that are known by predicate, `UNKNOWN` elsewhere. */
  readonly truths: Uint8Array
  /** The outcome of another flag that has been evaluated before, with how sure a client library is of it. */
  dependency(reference: string): { readonly outcome: Outcome; readonly doubt: number } | undefined
}

export const UNKNOWN = 255

export type Predicate = (run: Run) => Truth

/** The person's properties, or one group's, with what the engine adds: `distinct_id` and `$group_key`. */
export function propertyOf(run: Run, bag: number, key: string): unknown {
  const properties = run.bags[bag]
  if (properties === undefined) return undefined
  if (Object.hasOwn(properties, key)) return properties[key]
  if (bag === PERSON) return key === 'distinct_id' ? run.subject.distinctId : undefined
  return key === '$group_key' ? run.groupKeys[bag] : undefined
}

export function hasProperty(run: Run, bag: number, key: string): boolean {
  const properties = run.bags[bag]
  if (properties === undefined) return false
  return Object.hasOwn(properties, key) || key === (bag === PERSON ? 'distinct_id' : '$group_key')
}

export function openRun(
  subject: Subject,
  now: number,
  groupTypes: readonly (string | undefined)[],
  predicateCount: number,
  dependency: Run['dependency'],
): Run {
  const groups = recordOr(subject.groups)
  const groupProperties = recordOr(subject.groupProperties)
  const bags: (JsonRecord | undefined)[] = [recordOr(subject.personProperties)]
  const groupKeys: (string | number)[] = ['']
  for (let bag = 1; bag < groupTypes.length; bag++) {
    const type = groupTypes[bag]!
    const key = own(groups, type)
    groupKeys.push(typeof key === 'number' ? key : plainText(key ?? ''))
    bags.push(key === undefined ? undefined : recordOr(own(groupProperties, type)))
  }
  return { subject, now, bags, groupKeys, truths: new Uint8Array(predicateCount).fill(UNKNOWN), dependency }
}

const nothing: JsonRecord = Object.freeze({})

function recordOr(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : nothing
}
