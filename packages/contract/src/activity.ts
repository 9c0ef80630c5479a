import Type, { type Static } from 'typebox'
import { FreeObject, Instant, Nullable } from './schema.ts'

export const ActivityChange = Type.Object({
  type: Type.String(),
  action: Type.Union([Type.Literal('created'), Type.Literal('changed'), Type.Literal('deleted')]),
  field: Nullable(Type.String()),
  before: Type.Unknown(),
  after: Type.Unknown(),
})

export const ActivityEntry = Type.Object({
  id: Type.Integer(),
  user: FreeObject('The author: `{first_name, email}`, or the system.'),
  activity: Type.String(),
  scope: Type.String(),
  item_id: Type.String(),
  detail: Type.Object({
    name: Type.String(),
    short_id: Type.Null(),
    type: Type.Null(),
    changes: Nullable(Type.Array(ActivityChange)),
    trigger: Nullable(FreeObject()),
  }),
  through: Nullable(Type.String({ description: 'Label of the API key that was used.' })),
  created_at: Instant(),
})
export type ActivityEntry = Static<typeof ActivityEntry>

/** The fields that an activity response adds to the documented shape. */
export const activityAnswer = {
  results: Type.Array(ActivityEntry),
  count: Type.Integer(),
  total_count: Type.Integer(),
  next: Nullable(Type.String()),
  previous: Nullable(Type.String()),
}

export const activityQuery = {
  limit: Type.Optional(Type.String({ description: 'Entries per page (default 10, at most 1000).' })),
  offset: Type.Optional(Type.String({ description: 'Index of the first entry.' })),
  page: Type.Optional(Type.String({ description: 'Page number from 1, instead of offset.' })),
  user: Type.Optional(Type.String({ description: 'Only entries by this user (id, UUID or email).' })),
  date_from: Type.Optional(Type.String({ description: 'Only entries at or after this instant.' })),
  date_to: Type.Optional(Type.String({ description: 'Only entries before this instant.' })),
}
