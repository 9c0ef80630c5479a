import Type, { type Static } from 'typebox'
import { FreeObject, Instant, Nullable } from '../schema.ts'

export const ActivityChange = Type.Object(
  {
    type: Type.String({ description: 'Type of the changed object.', examples: ['FeatureFlag'] }),
    action: Type.Union([Type.Literal('created'), Type.Literal('changed'), Type.Literal('deleted')], {
      description: 'What happened to the field.',
      examples: ['changed'],
    }),
    field: Nullable(Type.String({ description: 'Name of the field.', examples: ['active'] })),
    before: Type.Unknown({ description: 'Previous value.', examples: [true] }),
    after: Type.Unknown({ description: 'New value.', examples: [false] }),
  },
  { title: 'ActivityChange', description: 'The change of one field.' },
)

export const ActivityEntry = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id of the entry.', examples: [41] }),
    user: FreeObject('The author: `{first_name, email}`, or the system.', {
      id: 1,
      first_name: 'Ada',
      email: 'ada@example.com',
    }),
    activity: Type.String({
      description: 'What happened: `created`, `updated`, `deleted` and others.',
      examples: ['updated'],
    }),
    scope: Type.String({ description: 'Type of the object.', examples: ['FeatureFlag'] }),
    item_id: Type.String({ description: 'Id of the object.', examples: ['12'] }),
    detail: Type.Object(
      {
        name: Type.String({ description: 'Name or key of the object at that time.', examples: ['new-checkout'] }),
        short_id: Type.Null({ description: 'Always null.' }),
        type: Type.Null({ description: 'Always null.' }),
        changes: Nullable(Type.Array(ActivityChange, { description: 'Changed fields.' })),
        trigger: Nullable(FreeObject('What triggered a change by the system.', null)),
      },
      { description: 'What was changed.' },
    ),
    through: Nullable(Type.String({ description: 'Label of the API key that was used.', examples: ['CI'] })),
    created_at: Instant('When it happened.'),
  },
  { title: 'ActivityEntry', description: 'One entry of the activity log.' },
)
export type ActivityEntry = Static<typeof ActivityEntry>

/** The fields that an activity response adds to the documented shape. */
export const activityAnswer = {
  results: Type.Array(ActivityEntry, { description: 'Entries of this page.' }),
  count: Type.Integer({ description: 'Number of all entries that match.', examples: [1] }),
  total_count: Type.Integer({ description: 'Same as `count`.', examples: [1] }),
  next: Nullable(Type.String({ description: 'URL of the next page.', examples: [null] })),
  previous: Nullable(Type.String({ description: 'URL of the previous page.', examples: [null] })),
}

export const activityQuery = {
  limit: Type.Optional(Type.Integer({ description: 'Entries per page (default 10, at most 1000).' })),
  offset: Type.Optional(Type.Integer({ description: 'Index of the first entry.' })),
  page: Type.Optional(Type.Integer({ description: 'Page number from 1, instead of offset.' })),
  user: Type.Optional(Type.String({ description: 'Only entries by this user (id, UUID or email).' })),
  activity: Type.Optional(Type.String({ description: 'Only entries of this kind, such as `created`.' })),
  entry_id: Type.Optional(Type.Integer({ description: 'Only the entry with this id.' })),
  date_from: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries at or after this instant.' })),
  date_to: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries before this instant.' })),
}
