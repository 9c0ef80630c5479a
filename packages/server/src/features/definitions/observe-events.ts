import { storable } from '../../domain/distinct-id.ts'
import type { IncomingEvent } from '../../domain/event.ts'
import type { Project } from '../../tenancy.ts'
import {
  type DefinitionKind,
  isNameable,
  isSuggestible,
  type Observed,
  type ObservedValue,
  typeOf,
} from './definition.ts'

export interface Observation {
  readonly definitions: readonly Observed[]
  readonly values: readonly ObservedValue[]
}

/** Carried by events, but no properties of them. */
const notProperties = new Set(['$set', '$set_once', '$unset', '$groups', '$group_set', 'token', 'distinct_id'])
/** Every flag would be a property of its own. */
const flagPrefix = '$feature/'
/** Their values identify a person or a single event. */
const identifying = new Set([
  '$anon_distinct_id',
  '$device_id',
  '$feature_flag_request_id',
  '$group_key',
  '$insert_id',
  '$ip',
  '$sent_at',
  '$session_id',
  '$time',
  '$user_id',
  '$window_id',
  'alias',
])
const identifyingPattern = /mail|phone|password|secret|token|address/i

/** The names and values that events contain, each once. */
export function observeEvents(project: Project, events: readonly IncomingEvent[]): Observation {
  const definitions = new Map<string, Observed>()
  const values = new Map<string, ObservedValue>()
  const add = (kind: DefinitionKind, name: string, type: Observed['type']) => {
    if (isNameable(name) && storable(name) === name) definitions.set(`${kind} ${name}`, { kind, name, type })
  }
  const addAll = (kind: DefinitionKind, properties: unknown) => {
    for (const [name, value] of Object.entries(objectOf(properties))) add(kind, name, typeOf(value))
  }
  for (const { name: event, properties } of events) {
    add('event', event, null)
    addAll('person', properties.$set_once)
    addAll('person', properties.$set)
    const groupIndex = event === '$groupidentify' ? indexOf(project, properties.$group_type) : undefined
    if (groupIndex !== undefined) addAll(`group:${groupIndex}`, properties.$group_set)
    for (const [name, value] of Object.entries(properties)) {
      if (notProperties.has(name) || name.startsWith(flagPrefix)) continue
      add('event_property', name, typeOf(value))
      if (!isNameable(name) || identifying.has(name) || identifyingPattern.test(name) || !isSuggestible(value)) continue
      if (storable(name) === name) values.set(`${name} ${JSON.stringify(value)}`, { name, value })
    }
  }
  return { definitions: [...definitions.values()], values: [...values.values()] }
}

function indexOf({ groupTypes }: Project, type: unknown): number | undefined {
  const entry = Object.entries(groupTypes).find(([, name]) => name === type)
  return entry && Number(entry[0])
}

const objectOf = (value: unknown): object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
