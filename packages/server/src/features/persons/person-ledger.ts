import { isMeaningless } from '../../domain/distinct-id.ts'
import { distinctIdsPerPersonMax, type Person } from '../../domain/person.ts'
import {
  type Properties,
  type PropertyUpdate,
  propertiesCharactersMax,
  updateProperties,
} from '../../domain/properties.ts'
import type { Instant } from '../../instant.ts'

/** A person to write: a new one, or a change to a stored one (`stored`). */
export interface PersonDraft {
  readonly uuid: string
  readonly stored: Person | undefined
  readonly properties: Properties
  readonly isIdentified: boolean
  readonly createdAt: Instant
  readonly distinctIdCount: number
  /** Ids to bind that are not bound to a person yet. */
  readonly newDistinctIds: readonly string[]
  /** Stored persons to merge into this one: their ids and hash keys move here and the rows are deleted. */
  readonly absorbed: readonly Person[]
}

/**
 * `identify`: `from` is an anonymous id; if it belongs to an identified person, nothing happens. `alias`: the same, but an unbound id may
 * become another id of an identified person. `force`: always merges.
 */
export type MergeRule = 'identify' | 'alias' | 'force'

export type MergeOutcome = 'merged' | 'same' | 'meaningless_id' | 'already_identified' | 'too_many_ids'

/**
 * Computes in memory how a sequence of events changes persons: which are new, changed or merged. Starts from the stored persons of the
 * distinct ids involved and results in drafts to write. Pure, so that the rules can be property-tested.
 */
export interface PersonLedger {
  /** Creates a person for an unbound id. */
  see(distinctId: string, at: Instant): void
  update(distinctId: string, update: PropertyUpdate, at: Instant): void
  identify(distinctId: string, at: Instant): void
  /**
   * Merges the person of `from` into the person of `into`, whose properties take precedence. An identified person is not merged into
   * another unless forced: two users may share a device.
   */
  merge(into: string, from: string, at: Instant, rule?: MergeRule): MergeOutcome
  /** Who the distinct id belongs to now; undefined when it is unbound. */
  holderOf(distinctId: string): PersonHolder | undefined
  /** New persons and those that changed. */
  drafts(): readonly PersonDraft[]
  /** Number of persons that retain their previous properties because the new ones are too large. */
  refusedProperties(): number
}

/** A stored person, or one that is still to be written. */
export type PersonHolder = Pick<PersonDraft, 'uuid' | 'stored'>

interface Draft {
  uuid: string
  stored: Person | undefined
  properties: Properties
  isIdentified: boolean
  createdAt: Instant
  distinctIdCount: number
  newDistinctIds: string[]
  absorbed: Person[]
  isChanged: boolean
  mergedInto: Draft | undefined
}

export function createPersonLedger(persons: ReadonlyMap<string, Person>, newUuid: () => string): PersonLedger {
  const drafts: Draft[] = []
  const byPersonId = new Map<number, Draft>()
  const byDistinctId = new Map<string, Draft>()
  let refused = 0

  function find(distinctId: string): Draft | undefined {
    const draft = byDistinctId.get(distinctId) ?? open(distinctId)
    return draft && survivorOf(draft)
  }

  function open(distinctId: string): Draft | undefined {
    const person = persons.get(distinctId)
    if (!person) return undefined
    const draft = byPersonId.get(person.id) ?? add(draftOf(person))
    byPersonId.set(person.id, draft)
    byDistinctId.set(distinctId, draft)
    return draft
  }

  function add(draft: Draft): Draft {
    drafts.push(draft)
    return draft
  }

  function findOrCreate(distinctId: string, at: Instant): Draft {
    const existing = find(distinctId)
    if (existing) return existing
    const draft = add(newDraft(newUuid(), at))
    bind(distinctId, draft)
    return draft
  }

  function bind(distinctId: string, draft: Draft): void {
    draft.newDistinctIds.push(distinctId)
    draft.distinctIdCount += 1
    draft.isChanged = true
    byDistinctId.set(distinctId, draft)
  }

  function markIdentified(draft: Draft): void {
    if (draft.isIdentified) return
    draft.isIdentified = true
    draft.isChanged = true
  }

  function join(intoId: string, fromId: string, at: Instant, rule: MergeRule): MergeOutcome {
    const [into, from] = [find(intoId), find(fromId)]
    if (into && into === from) return 'same'
    if (from?.isIdentified && (rule === 'identify' || (rule === 'alias' && into))) return 'already_identified'
    if (into && from) return absorb(into, from)
    const draft = into ?? from ?? findOrCreate(intoId, at)
    if (draft.distinctIdCount >= distinctIdsPerPersonMax) return 'too_many_ids'
    bind(draft === from ? intoId : fromId, draft)
    return 'merged'
  }

  return {
    see: (distinctId, at) => void findOrCreate(distinctId, at),
    update(distinctId, update, at) {
      const draft = findOrCreate(distinctId, at)
      const properties = updateProperties(draft.properties, update)
      if (properties === draft.properties) return
      draft.properties = properties
      draft.isChanged = true
    },
    identify: (distinctId, at) => markIdentified(findOrCreate(distinctId, at)),
    merge(into, from, at, rule = 'identify') {
      if (into === from) return 'same'
      if (isMeaningless(into) || isMeaningless(from)) return 'meaningless_id'
      const outcome = join(into, from, at, rule)
      if (outcome === 'merged' || outcome === 'same') markIdentified(findOrCreate(into, at))
      return outcome
    },
    holderOf: find,
    drafts() {
      const survivors = drafts.filter(draft => draft.mergedInto === undefined && draft.isChanged)
      for (const draft of survivors) {
        if (JSON.stringify(draft.properties).length <= propertiesCharactersMax) continue
        draft.properties = draft.stored?.properties ?? {}
        refused += 1
      }
      return survivors
    },
    refusedProperties: () => refused,
  }
}

function absorb(into: Draft, from: Draft): MergeOutcome {
  if (into.distinctIdCount + from.distinctIdCount > distinctIdsPerPersonMax) return 'too_many_ids'
  into.properties = { ...from.properties, ...into.properties }
  if (from.createdAt < into.createdAt) into.createdAt = from.createdAt
  into.isIdentified ||= from.isIdentified
  into.distinctIdCount += from.distinctIdCount
  into.newDistinctIds.push(...from.newDistinctIds)
  into.absorbed.push(...(from.stored ? [from.stored] : []), ...from.absorbed)
  into.isChanged = true
  from.mergedInto = into
  return 'merged'
}

function survivorOf(draft: Draft): Draft {
  let current = draft
  while (current.mergedInto) current = current.mergedInto
  return current
}

const newDraft = (uuid: string, createdAt: Instant): Draft => ({
  uuid,
  stored: undefined,
  properties: {},
  isIdentified: false,
  createdAt,
  distinctIdCount: 0,
  newDistinctIds: [],
  absorbed: [],
  isChanged: true,
  mergedInto: undefined,
})

const draftOf = (person: Person): Draft => ({
  uuid: person.uuid,
  stored: person,
  properties: person.properties,
  isIdentified: person.isIdentified,
  createdAt: person.createdAt,
  distinctIdCount: person.distinctIdCount,
  newDistinctIds: [],
  absorbed: [],
  isChanged: false,
  mergedInto: undefined,
})
