import type { EdgeSubject, EdgeSubjectQuestion } from '@halyard/contract'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'
import type { StoredSubject, WantedSubject } from '../../evaluation/subjects/gather-subject.ts'

/** Wire ↔ domain, for look-ups of edges. */

export const wantedToWire = (project: string, wanted: WantedSubject): EdgeSubjectQuestion => ({
  project,
  distinct_id: wanted.distinctId,
  ...(wanted.anonDistinctId !== undefined && { anon_distinct_id: wanted.anonDistinctId }),
  person_properties: wanted.personProperties,
  groups: wanted.groups.map(({ typeIndex, type, key }) => ({ type_index: typeIndex, type, key })),
  static_cohorts: [...wanted.staticCohorts],
  continuity_flags: [...wanted.continuityFlags],
  ...(wanted.events.length > 0 && { events: [...wanted.events], event_days: wanted.eventDays }),
})

export const wantedFromWire = (question: EdgeSubjectQuestion): WantedSubject => ({
  distinctId: question.distinct_id,
  anonDistinctId: question.anon_distinct_id,
  personProperties: question.person_properties,
  groups: question.groups.map(({ type_index, type, key }) => ({ typeIndex: type_index, type, key })),
  staticCohorts: question.static_cohorts,
  continuityFlags: question.continuity_flags,
  events: question.events ?? [],
  eventDays: question.event_days ?? 0,
})

export const subjectToWire = (subject: StoredSubject): EdgeSubject => ({
  person_properties: subject.personProperties ?? null,
  group_properties: subject.groupProperties ?? {},
  static_cohorts: [...(subject.staticCohorts ?? [])],
  hash_keys: subject.hashKeyOverrides ?? {},
  ...(subject.events && { events: eventsToWire(subject.events) }),
})

export const subjectFromWire = (wire: EdgeSubject): StoredSubject => ({
  ...(wire.person_properties && { personProperties: wire.person_properties }),
  groupProperties: wire.group_properties as Readonly<Record<string, Properties>>,
  staticCohorts: new Set(wire.static_cohorts),
  hashKeyOverrides: wire.hash_keys,
  ...(wire.events && { events: eventsFromWire(wire.events) }),
})

const eventsToWire = (events: NonNullable<StoredSubject['events']>): NonNullable<EdgeSubject['events']> =>
  Object.fromEntries(
    Object.entries(events).map(([name, { firstDay, days }]) => [
      name,
      { first_day: firstDay, days: days.map(([day, count]) => [day, count]) },
    ]),
  )

const eventsFromWire = (events: NonNullable<EdgeSubject['events']>): NonNullable<StoredSubject['events']> =>
  Object.fromEntries(
    Object.entries(events).map(([name, { first_day, days }]) => [
      name,
      { firstDay: first_day, days: days.map(([day = 0, count = 0]) => [day, count]) },
    ]),
  )
