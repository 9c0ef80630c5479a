import Type, { type Static } from 'typebox'
import { FlagParams } from '../flags/flags.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Instant, Integer, List, NamedObject, Nullable, ProjectParams, Text, TextInput } from '../schema.ts'

/** The longest time that one request covers. */
export const eventCountHoursMax = 24
export const countedEventsMax = 8
/** At most this many intervals are returned. */
export const countIntervalsMax = 120

const EventCounts = NamedObject('EventCounts', 'How often events arrived, over time.', {
  from: Instant('Start of the first interval.'),
  interval_minutes: Integer('Length of an interval.', 1),
  events: List(
    Type.Object({
      event: Text('Name of the event.', '$feature_flag_called'),
      counts: List(Type.Integer(), 'One number per interval.', [3, 0, 12]),
    }),
    `Evaluations (\`$feature_flag_called\`) first, then the most frequent; at most ${countedEventsMax}.`,
  ),
})
export type EventCounts = Static<typeof EventCounts>

/** The longest time that one request for counts by value covers: as long as counts are kept. */
export const eventCountByValueHoursMax = 8 * 24

const EventCountsByValue = NamedObject(
  'EventCountsByValue',
  'How often an event arrived with each value of a flag, by the hour.',
  {
    from: Instant('Start of the first hour.'),
    is_counted: Bool('Whether events are counted by the value of this flag now.'),
    events: List(
      Type.Object({
        event: Text('Name of the event.', 'order_completed'),
        count: Integer('How many carried the flag.', 15),
      }),
      `Events that carried the flag, the most frequent first; at most ${countedEventsMax}.`,
    ),
    event: Nullable(Text('The counted event; null for none.', 'order_completed')),
    series: List(
      Type.Object({
        value: Text('The value that the events carried.', 'true'),
        counts: List(Type.Integer(), 'One number per hour.', [3, 0, 12]),
      }),
      'One entry per value.',
    ),
  },
)
export type EventCountsByValue = Static<typeof EventCountsByValue>

const route = routesOf('Event counts')

export const eventCountRoutes = {
  list: route.get('/api/projects/:project_id/event_counts', {
    operationId: 'listEventCounts',
    summary: 'Count events by interval, to compare with changes of flags',
    description: `Counts by minute are kept for a week, with ClickHouse for a year. At most ${eventCountHoursMax} hours in at most ${countIntervalsMax} intervals.`,
    access: inProject('project:read', 'feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      date_from: Type.String({ format: 'date-time', description: 'Start of the time.' }),
      date_to: Type.String({ format: 'date-time', description: 'End of the time, exclusive.' }),
    }),
    responses: { 200: EventCounts },
  }),
  byValue: route.get('/api/projects/:project_id/feature_flags/:id/event_counts', {
    operationId: 'listFeatureFlagEventCounts',
    summary: 'Count an event by the value of the flag, hour by hour',
    description:
      'Counts events that carry `$feature/<key>`, for flags with rollback conditions and for the five flags changed last that are on for a part of the people or have variants. Kept for eight days.',
    access: inProject('project:read', 'feature_flag:read'),
    params: FlagParams,
    query: Type.Object({
      event: Type.Optional(TextInput(400, 'Name of the event; the most frequent one by default.')),
      date_from: Type.String({ format: 'date-time', description: 'Start of the time; hours are whole.' }),
      date_to: Type.String({
        format: 'date-time',
        description: `End of the time, at most ${eventCountByValueHoursMax} hours later.`,
      }),
    }),
    responses: { 200: EventCountsByValue },
  }),
}
