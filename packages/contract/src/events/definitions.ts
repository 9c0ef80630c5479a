import Type, { type Static } from 'typebox'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Instant, Integer, NamedObject, Nullable, ProjectParams, Text, Uuid } from '../schema.ts'

/** Names and sampled values of events and properties, for suggestions. Shapes as in PostHog. */
export const propertyKinds = ['event', 'person', 'group'] as const
export type PropertyKind = (typeof propertyKinds)[number]

const PropertyDefinition = NamedObject('PropertyDefinition', 'A property that events, persons or groups have.', {
  id: Uuid('Derived from project, type and name; does not change.'),
  name: Text('Name of the property.', 'plan'),
  type: Type.Union([Type.Literal('event'), Type.Literal('person'), Type.Literal('group')], {
    description: 'What has the property.',
    examples: ['person'],
  }),
  group_type_index: Nullable(Integer('Index of the group type, for properties of groups.', null)),
  property_type: Nullable(Text('`String`, `Numeric`, `Boolean` or `DateTime`; null for other values.', 'String')),
  is_numerical: Bool('Whether the values are numbers.', false),
  last_seen_at: Nullable(Instant('When it was last observed, within a day. Null: found in stored properties.')),
})
export type PropertyDefinition = Static<typeof PropertyDefinition>

const EventDefinition = NamedObject('EventDefinition', 'An event that the project has received.', {
  id: Uuid('Derived from project and name; does not change.'),
  name: Text('Name of the event.', 'checkout_completed'),
  created_at: Instant('When the event was first observed.'),
  last_seen_at: Instant('When it was last observed, within a day.'),
})
export type EventDefinition = Static<typeof EventDefinition>

const PropertyValue = NamedObject('PropertyValue', 'A sampled value of a property.', {
  name: Type.Unknown({ description: 'The value: a string, number or boolean.', examples: ['pro'] }),
  count: Integer('How often it occurs in the sample.', 12),
})
export type PropertyValue = Static<typeof PropertyValue>

const project = '/api/projects/:project_id' as const
const search = Type.Optional(Text('Part of the name, case-insensitive.'))
const valueQuery = {
  key: Type.Optional(Text('Required. Name of the property.', 'plan')),
  value: Type.Optional(Text('Part of the value, case-insensitive.')),
}
const groupTypeIndex = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type, 0 to 4.', examples: [0] }),
)

const route = routesOf('Events and properties', { params: ProjectParams })

export const definitionRoutes = {
  listProperties: route.get(`${project}/property_definitions`, {
    operationId: 'listPropertyDefinitions',
    summary: 'List the names of properties',
    description:
      'Observed in events during the last 90 days, at most 1000 of each type, and found in the newest 1000 persons or groups. Sorted by name.',
    access: inProject('feature_flag:read', 'person:read'),
    query: Type.Object({
      ...pageQuery,
      type: Type.Optional(Text('`event` (default), `person` or `group`.', 'person')),
      group_type_index: groupTypeIndex,
      search,
    }),
    responses: { 200: Page(PropertyDefinition) },
  }),
  listEvents: route.get(`${project}/event_definitions`, {
    operationId: 'listEventDefinitions',
    summary: 'List the names of events',
    description: 'Observed during the last 90 days, at most 1000. Sorted by name.',
    access: inProject('feature_flag:read', 'person:read'),
    query: Type.Object({ ...pageQuery, search }),
    responses: { 200: Page(EventDefinition) },
  }),
  personValues: route.get(`${project}/persons/values`, {
    operationId: 'listPersonPropertyValues',
    summary: 'Sample the values of a property of persons',
    description: 'The most frequent values among the newest 1000 persons, at most 50.',
    access: inProject('person:read'),
    query: Type.Object(valueQuery),
    responses: { 200: Type.Array(PropertyValue) },
  }),
  groupValues: route.get(`${project}/groups/property_values`, {
    operationId: 'listGroupPropertyValues',
    summary: 'Sample the values of a property of groups',
    description: 'The most frequent values among the newest 1000 groups of the type, at most 50.',
    access: inProject('group:read'),
    query: Type.Object({ ...valueQuery, group_type_index: groupTypeIndex }),
    responses: { 200: Type.Array(PropertyValue) },
  }),
  eventValues: route.get(`${project}/events/values`, {
    operationId: 'listEventPropertyValues',
    summary: 'Sample the values of a property of events',
    description:
      'At most 20 values of each property are retained, for 30 days. Properties that identify a person have none.',
    access: inProject('person:read'),
    query: Type.Object(valueQuery),
    responses: { 200: Type.Array(PropertyValue) },
  }),
}
