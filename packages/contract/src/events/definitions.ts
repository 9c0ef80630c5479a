import Type, { type Static } from 'typebox'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { Instant, Nullable, ProjectParams, Uuid } from '../schema.ts'

/** Names and sampled values of events and properties, for suggestions. Shapes as in PostHog. */
export const propertyKinds = ['event', 'person', 'group'] as const
export type PropertyKind = (typeof propertyKinds)[number]

const PropertyDefinition = Type.Object(
  {
    id: Uuid('Derived from project, type and name; does not change.'),
    name: Type.String({ description: 'Name of the property.', examples: ['plan'] }),
    type: Type.Union([Type.Literal('event'), Type.Literal('person'), Type.Literal('group')], {
      description: 'What has the property.',
      examples: ['person'],
    }),
    group_type_index: Nullable(
      Type.Integer({ description: 'Index of the group type, for properties of groups.', examples: [null] }),
    ),
    property_type: Nullable(
      Type.String({
        description: '`String`, `Numeric`, `Boolean` or `DateTime`; null for other values.',
        examples: ['String'],
      }),
    ),
    is_numerical: Type.Boolean({ description: 'Whether the values are numbers.', examples: [false] }),
    last_seen_at: Nullable(Instant('When it was last observed, within a day. Null: found in stored properties.')),
  },
  { title: 'PropertyDefinition', description: 'A property that events, persons or groups have.' },
)
export type PropertyDefinition = Static<typeof PropertyDefinition>

const EventDefinition = Type.Object(
  {
    id: Uuid('Derived from project and name; does not change.'),
    name: Type.String({ description: 'Name of the event.', examples: ['checkout_completed'] }),
    created_at: Instant('When the event was first observed.'),
    last_seen_at: Instant('When it was last observed, within a day.'),
  },
  { title: 'EventDefinition', description: 'An event that the project has received.' },
)
export type EventDefinition = Static<typeof EventDefinition>

const PropertyValue = Type.Object(
  {
    name: Type.Unknown({ description: 'The value: a string, number or boolean.', examples: ['pro'] }),
    count: Type.Integer({ description: 'How often it occurs in the sample.', examples: [12] }),
  },
  { title: 'PropertyValue', description: 'A sampled value of a property.' },
)
export type PropertyValue = Static<typeof PropertyValue>

const route = routesOf('Events and properties')
const project = '/api/projects/:project_id' as const
const search = Type.Optional(Type.String({ description: 'Part of the name, case-insensitive.' }))
const valueQuery = {
  key: Type.Optional(Type.String({ description: 'Required. Name of the property.', examples: ['plan'] })),
  value: Type.Optional(Type.String({ description: 'Part of the value, case-insensitive.' })),
}
const groupTypeIndex = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type, 0 to 4.', examples: [0] }),
)

export const definitionRoutes = {
  listProperties: route({
    method: 'GET',
    path: `${project}/property_definitions`,
    operationId: 'listPropertyDefinitions',
    summary: 'List the names of properties',
    description:
      'Observed in events during the last 90 days, at most 1000 of each type, and found in the newest 1000 persons or groups. Sorted by name.',
    access: inProject('feature_flag:read', 'person:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      type: Type.Optional(
        Type.String({ description: '`event` (default), `person` or `group`.', examples: ['person'] }),
      ),
      group_type_index: groupTypeIndex,
      search,
    }),
    responses: { 200: Page(PropertyDefinition) },
  }),
  listEvents: route({
    method: 'GET',
    path: `${project}/event_definitions`,
    operationId: 'listEventDefinitions',
    summary: 'List the names of events',
    description: 'Observed during the last 90 days, at most 1000. Sorted by name.',
    access: inProject('feature_flag:read', 'person:read'),
    params: ProjectParams,
    query: Type.Object({ ...pageQuery, search }),
    responses: { 200: Page(EventDefinition) },
  }),
  personValues: route({
    method: 'GET',
    path: `${project}/persons/values`,
    operationId: 'listPersonPropertyValues',
    summary: 'Sample the values of a property of persons',
    description: 'The most frequent values among the newest 1000 persons, at most 50.',
    access: inProject('person:read'),
    params: ProjectParams,
    query: Type.Object(valueQuery),
    responses: { 200: Type.Array(PropertyValue) },
  }),
  groupValues: route({
    method: 'GET',
    path: `${project}/groups/property_values`,
    operationId: 'listGroupPropertyValues',
    summary: 'Sample the values of a property of groups',
    description: 'The most frequent values among the newest 1000 groups of the type, at most 50.',
    access: inProject('group:read'),
    params: ProjectParams,
    query: Type.Object({ ...valueQuery, group_type_index: groupTypeIndex }),
    responses: { 200: Type.Array(PropertyValue) },
  }),
  eventValues: route({
    method: 'GET',
    path: `${project}/events/values`,
    operationId: 'listEventPropertyValues',
    summary: 'Sample the values of a property of events',
    description:
      'At most 20 values of each property are retained, for 30 days. Properties that identify a person have none.',
    access: inProject('person:read'),
    params: ProjectParams,
    query: Type.Object(valueQuery),
    responses: { 200: Type.Array(PropertyValue) },
  }),
}
