import Type, { type Static } from 'typebox'
import { inProject, route } from '../route.ts'
import { Instant, ProjectParams } from '../schema.ts'

/** The longest time that one request covers. */
export const eventCountHoursMax = 24
export const countedEventsMax = 8
/** At most this many intervals are returned. */
export const countIntervalsMax = 120

const EventCounts = Type.Object(
  {
    from: Instant('Start of the first interval.'),
    interval_minutes: Type.Integer({ description: 'Length of an interval.', examples: [1] }),
    events: Type.Array(
      Type.Object({
        event: Type.String({ description: 'Name of the event.', examples: ['$feature_flag_called'] }),
        counts: Type.Array(Type.Integer(), { description: 'One number per interval.', examples: [[3, 0, 12]] }),
      }),
      {
        description: `Evaluations (\`$feature_flag_called\`) first, then the most frequent; at most ${countedEventsMax}.`,
      },
    ),
  },
  { title: 'EventCounts', description: 'How often events arrived, over time.' },
)
export type EventCounts = Static<typeof EventCounts>

export const eventCountRoutes = {
  list: route({
    method: 'GET',
    path: '/api/projects/:project_id/event_counts',
    tag: 'Event counts',
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
}
