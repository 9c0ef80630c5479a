import { readDistinctId, storable } from '../../domain/distinct-id.ts'
import type { IncomingEvent } from '../../domain/event.ts'
import { isEmptyUpdate, type Properties, type PropertyUpdate } from '../../domain/properties.ts'
import { groupKeyCharactersMax, groupTypeCharactersMax } from '../persons/group.ts'
import type { MergeOutcome, MergeRule, PersonLedger } from '../persons/person-ledger.ts'

/** The properties that an event sets on a group. */
export interface GroupUpdate {
  readonly type: string
  readonly key: string
  readonly update: PropertyUpdate
}

/** Exceptions and heatmaps carry arbitrary properties, which must not change a person. */
const eventsIgnoredForProfiles = new Set(['$exception', '$$heatmap'])
const mergeRules: ReadonlyMap<string, MergeRule> = new Map([
  ['$identify', 'identify'],
  ['$create_alias', 'alias'],
  ['$merge_dangerously', 'force'],
])

/** The distinct ids of the persons that an event affects. */
export function distinctIdsIn(event: IncomingEvent): readonly string[] {
  if (hasNoPerson(event)) return []
  const other = otherIdOf(event)
  return other === undefined ? [event.distinctId] : [event.distinctId, other]
}

/** Applies an event to the ledger. Returns the outcome of its merge, if it requested one. */
export function applyToLedger(ledger: PersonLedger, event: IncomingEvent): MergeOutcome | undefined {
  if (hasNoPerson(event)) return undefined
  const { name, distinctId, at } = event
  const other = otherIdOf(event)
  const rule = mergeRules.get(name)
  const outcome = other !== undefined && rule ? ledger.merge(distinctId, other, at, rule) : undefined
  if (name === '$identify') ledger.identify(distinctId, at)
  const update = eventsIgnoredForProfiles.has(name) ? emptyUpdate : updateIn(event.properties)
  if (isEmptyUpdate(update)) ledger.see(distinctId, at)
  else ledger.update(distinctId, update, at)
  return outcome
}

/** True for events that must not be dropped under overload because they change a person or a group. */
export const updatesProfiles = (event: IncomingEvent): boolean =>
  mergeRules.has(event.name) ||
  event.name === '$groupidentify' ||
  (!eventsIgnoredForProfiles.has(event.name) && !isEmptyUpdate(updateIn(event.properties)))

/** The types of the groups that the event's person belongs to. */
export function groupTypesIn({ properties }: IncomingEvent): readonly string[] {
  const { $groups: groups } = properties
  return isObject(groups) ? Object.keys(groups).map(readGroupType).filter(isDefined) : []
}

export function groupUpdateIn({ name, properties }: IncomingEvent): GroupUpdate | undefined {
  if (name !== '$groupidentify') return undefined
  const type = readGroupType(properties.$group_type)
  const key = readGroupKey(properties.$group_key)
  if (type === undefined || key === undefined) return undefined
  return { type, key, update: { set: objectOf(properties.$group_set), setOnce: {}, unset: [] } }
}

/** Server SDKs identify groups under a synthetic distinct id, and clients can disable profile processing. */
function hasNoPerson({ name, distinctId, properties }: IncomingEvent): boolean {
  if (properties.$process_person_profile === false) return true
  return name === '$groupidentify' && distinctId === `$${properties.$group_type}_${properties.$group_key}`
}

function otherIdOf({ name, properties }: IncomingEvent): string | undefined {
  if (name === '$identify') return readDistinctId(properties.$anon_distinct_id)
  return mergeRules.has(name) ? readDistinctId(properties.alias) : undefined
}

const emptyUpdate: PropertyUpdate = { set: {}, setOnce: {}, unset: [] }

function updateIn({ $set, $set_once, $unset }: Properties): PropertyUpdate {
  if ($set === undefined && $set_once === undefined && $unset === undefined) return emptyUpdate
  return { set: objectOf($set), setOnce: objectOf($set_once), unset: namesIn($unset) }
}

function namesIn(unset: unknown): readonly string[] {
  if (Array.isArray(unset)) return unset.filter(name => typeof name === 'string')
  return isObject(unset) ? Object.keys(unset) : []
}

const readGroupType = (value: unknown): string | undefined => {
  const type = typeof value === 'string' ? storable(value).trim() : ''
  return type === '' || type.length > groupTypeCharactersMax ? undefined : type
}

const readGroupKey = (value: unknown): string | undefined => {
  const key = typeof value === 'string' || typeof value === 'number' ? storable(String(value)).trim() : ''
  return key === '' || key.length > groupKeyCharactersMax ? undefined : key
}

const isDefined = <T>(value: T | undefined): value is T => value !== undefined

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const objectOf = (value: unknown): Properties => (isObject(value) ? value : {})
