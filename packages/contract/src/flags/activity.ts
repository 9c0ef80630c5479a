import Type, { type Static } from 'typebox'
import { FreeObject, Instant, Integer, List, NamedObject, Nullable, ObjectOf, Text } from '../schema.ts'

export const ActivityChange = NamedObject('ActivityChange', 'The change of one field.', {
  type: Text('Type of the changed object.', 'FeatureFlag'),
  action: Type.Union([Type.Literal('created'), Type.Literal('changed'), Type.Literal('deleted')], {
    description: 'What happened to the field.',
    examples: ['changed'],
  }),
  field: Nullable(Text('Name of the field.', 'active')),
  before: Type.Unknown({ description: 'Previous value.', examples: [true] }),
  after: Type.Unknown({ description: 'New value.', examples: [false] }),
})

export const ActivityEntry = NamedObject('ActivityEntry', 'One entry of the activity log.', {
  id: Integer('Unique id of the entry.', 41),
  user: FreeObject('The author: `{first_name, email}`, or the system.', {
    id: 1,
    first_name: 'Ada',
    email: 'ada@example.com',
  }),
  activity: Text('What happened: `created`, `updated`, `deleted` and others.', 'updated'),
  scope: Text('Type of the object.', 'FeatureFlag'),
  item_id: Text('Id of the object.', '12'),
  detail: ObjectOf('What was changed.', {
    name: Text('Name or key of the object at that time.', 'new-checkout'),
    short_id: Type.Null({ description: 'Always null.' }),
    type: Type.Null({ description: 'Always null.' }),
    changes: Nullable(List(ActivityChange, 'Changed fields.')),
    trigger: Nullable(FreeObject('What triggered a change by the system.', null)),
  }),
  through: Nullable(Text('Label of the API key that was used.', 'CI')),
  created_at: Instant('When it happened.'),
})
export type ActivityEntry = Static<typeof ActivityEntry>

/** The fields that an activity response adds to the documented shape. */
export const activityAnswer = {
  results: List(ActivityEntry, 'Entries of this page.'),
  count: Integer('Number of all entries that match.', 1),
  total_count: Integer('Same as `count`.', 1),
  next: Nullable(Text('URL of the next page.', null)),
  previous: Nullable(Text('URL of the previous page.', null)),
}

export const activityQuery = {
  limit: Type.Optional(Integer('Entries per page (default 10, at most 1000).')),
  offset: Type.Optional(Integer('Index of the first entry.')),
  page: Type.Optional(Integer('Page number from 1, instead of offset.')),
  user: Type.Optional(Text('Only entries by this user (id, UUID or email).')),
  activity: Type.Optional(Text('Only entries of this kind, such as `created`.')),
  entry_id: Type.Optional(Integer('Only the entry with this id.')),
  date_from: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries at or after this instant.' })),
  date_to: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries before this instant.' })),
}
