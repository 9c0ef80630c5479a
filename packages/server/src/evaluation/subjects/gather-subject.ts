import type { EventHistory, Requirements, Subject } from '@halyard/engine'
import type { ServedProject } from '../projects/served-project.ts'
import type { EvaluationRequest, Properties } from './evaluation-request.ts'

/** After this long a lookup is canceled and the evaluation goes on without it. */
export const lookupMillisecondsMax = 1000

/** Looks up the stored properties of persons and groups. */
export interface StoredSubjects {
  /** Returns the stored properties of the person and the groups. Raises `unavailable`. */
  find(projectId: number, wanted: WantedSubject): Promise<StoredSubject>
  /** The same when all of it is in memory; otherwise undefined. */
  findCached?(projectId: number, wanted: WantedSubject): StoredSubject | undefined
}

export interface WantedSubject {
  readonly distinctId: string
  readonly anonDistinctId: string | undefined
  /** Whether the person's properties are needed. */
  readonly personProperties: boolean
  /** The groups whose properties are needed, by the index of their type. */
  readonly groups: readonly { readonly typeIndex: number; readonly type: string; readonly key: string }[]
  /** Which of these static cohorts the person is in. */
  readonly staticCohorts: readonly number[]
  /**
   * Flags with experience continuity: their stored hash keys are needed. When there are none and the request contains an
   * anonymous id, the first one is stored.
   */
  readonly continuityFlags: readonly string[]
  /** The events whose histories are needed. */
  readonly events: readonly string[]
  /** The days of the longest window of these events. */
  readonly eventDays: number
}

export interface StoredSubject {
  /** Undefined when the distinct id belongs to no person. */
  readonly personId?: number
  readonly personProperties?: Properties
  readonly groupProperties?: Readonly<Record<string, Properties>>
  readonly staticCohorts?: ReadonlySet<number>
  readonly hashKeyOverrides?: Readonly<Record<string, string>>
  /** By name; without events that the person has never performed. */
  readonly events?: Readonly<Record<string, EventHistory>>
}

/** Whether anything of the person is needed. */
export const isPersonWanted = ({ personProperties, staticCohorts, continuityFlags, events }: WantedSubject): boolean =>
  personProperties || staticCohorts.length > 0 || continuityFlags.length > 0 || events.length > 0

/** A request with a distinct id. */
export type IdentifiedRequest = EvaluationRequest & { readonly distinctId: string }

/** The lookups that this request needs; undefined, the usual case, when it needs none. */
export function wantedSubject(served: ServedProject, request: IdentifiedRequest): WantedSubject | undefined {
  const { requirements } = served.snapshot
  const { hasPersons } = served
  if (!hasPersons && requirements.groupProperties.size === 0) return undefined
  const personProperties = hasPersons && lacks(request.personProperties, requirements.personProperties)
  const staticCohorts = hasPersons ? [...requirements.staticCohorts] : []
  const continuityFlags = hasPersons ? requirements.continuityFlags : []
  const groups = wantedGroups(served, request, requirements)
  const { distinctId, anonDistinctId } = request
  const wanted: WantedSubject = {
    ...{ distinctId, anonDistinctId, personProperties, staticCohorts, continuityFlags, groups },
    events: hasPersons ? [...requirements.events] : [],
    eventDays: requirements.eventDays,
  }
  return isPersonWanted(wanted) || groups.length > 0 ? wanted : undefined
}

function lacks(sentProperties: Properties, needed: ReadonlySet<string>): boolean {
  for (const name of needed) if (!Object.hasOwn(sentProperties, name) && name !== 'distinct_id') return true
  return false
}

function wantedGroups({ project }: ServedProject, request: IdentifiedRequest, requirements: Requirements) {
  if (requirements.groupProperties.size === 0) return []
  return Object.entries(project.groupTypes).flatMap(([index, type]) => {
    const needed = requirements.groupProperties.get(type)
    const key = Object.hasOwn(request.groups, type) ? request.groups[type] : undefined
    if (!needed || key === undefined) return []
    const sentProperties = groupPropertiesOf(request, type)
    const isComplete = [...needed].every(name => Object.hasOwn(sentProperties, name) || name === '$group_key')
    return isComplete ? [] : [{ typeIndex: Number(index), type, key: String(key) }]
  })
}

const groupPropertiesOf = ({ groupProperties }: IdentifiedRequest, type: string): Properties => {
  const sentProperties = Object.hasOwn(groupProperties, type) ? groupProperties[type] : undefined
  return typeof sentProperties === 'object' && sentProperties !== null ? sentProperties : {}
}

/** While it is assembled: spreading optional fields into it is a measurable part of a request. */
export type Draft<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** Merges stored properties with those of the request, which take precedence. */
export function subjectOf(request: IdentifiedRequest, stored: StoredSubject | undefined): Subject {
  const { distinctId, personProperties, groups, groupProperties, deviceId, anonDistinctId } = request
  const subject: Draft<Subject> = { distinctId, groups, personProperties, groupProperties }
  if (deviceId !== undefined) subject.deviceId = deviceId
  if (anonDistinctId !== undefined) subject.anonDistinctId = anonDistinctId
  if (!stored) return subject
  const { staticCohorts, hashKeyOverrides, events } = stored
  subject.personProperties = merged(without(stored.personProperties, 'distinct_id'), personProperties)
  if (stored.groupProperties) subject.groupProperties = mergedGroups(stored.groupProperties, request)
  if (staticCohorts) subject.inStaticCohort = id => staticCohorts.has(id)
  if (hashKeyOverrides) subject.hashKeyOverrides = hashKeyOverrides
  if (events) subject.events = events
  return subject
}

/** Without a copy in the usual case that nothing was sent. */
const merged = (stored: Properties, sent: Properties): Properties => (isEmpty(sent) ? stored : { ...stored, ...sent })

function isEmpty(properties: Properties): boolean {
  for (const _name in properties) return false
  return true
}

/** The ids of the request count, whether or not another flag caused the lookup. */
function without(stored: Properties = {}, id: 'distinct_id' | '$group_key'): Properties {
  if (!Object.hasOwn(stored, id)) return stored
  const { [id]: _ignored, ...others } = stored
  return others
}

function mergedGroups(
  stored: NonNullable<StoredSubject['groupProperties']>,
  request: IdentifiedRequest,
): Record<string, Properties> {
  const groups: Record<string, Properties> = { ...request.groupProperties }
  for (const [type, properties] of Object.entries(stored)) {
    groups[type] = merged(without(properties, '$group_key'), groupPropertiesOf(request, type))
  }
  return groups
}
