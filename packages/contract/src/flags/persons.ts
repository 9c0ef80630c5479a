import Type, { type Static } from 'typebox'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeObject,
  Instant,
  Integer,
  List,
  NamedObject,
  Nullable,
  ProjectParams,
  Text,
  Uuid,
} from '../schema.ts'

/** Persons are created by events and can be read and deleted here. In a list, `id` is the UUID, as in PostHog. */
const personFields = {
  uuid: Uuid('UUID of the person.'),
  name: Text('The first of the properties email, name and username, else a distinct id.', 'ada@example.com'),
  distinct_ids: List(Type.String(), 'At most 100.', ['user-1']),
  properties: FreeObject('Properties of the person.', { email: 'ada@example.com', plan: 'pro' }),
  is_identified: Bool('Whether the person has signed in (`$identify`).', true),
  created_at: Instant('When the person was created.'),
}
export const Person = NamedObject('Person', 'A person, created by events.', {
  id: Integer('Unique id of the person.', 5),
  ...personFields,
})
export type Person = Static<typeof Person>

export const ListedPerson = NamedObject('ListedPerson', 'A person in a list.', {
  type: Type.Literal('person', { description: 'Always `person`.' }),
  id: Uuid('UUID of the person.'),
  ...personFields,
  matched_recordings: List(Type.Unknown(), 'Always empty.', []),
  value_at_data_point: Type.Null({ description: 'Always null.' }),
})
export type ListedPerson = Static<typeof ListedPerson>

export const Group = NamedObject('Group', 'A group, such as a company, with its properties.', {
  group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type.', examples: [0] }),
  group_key: Text('Key of the group.', 'acme'),
  group_properties: FreeObject('Properties of the group.', { plan: 'enterprise' }),
  created_at: Instant('When the group was created.'),
})
export type Group = Static<typeof Group>

export const GroupType = NamedObject('GroupType', 'A type of group, such as `company`.', {
  group_type: Text('Name of the group type.', 'company'),
  group_type_index: Type.Integer({
    minimum: 0,
    maximum: 4,
    description: 'Index of the group type, 0 to 4.',
    examples: [0],
  }),
  name_singular: Nullable(Text('Display name of one group.', null)),
  name_plural: Nullable(Text('Display name of several groups.', null)),
})
export type GroupType = Static<typeof GroupType>

const project = '/api/projects/:project_id' as const
const PersonParams = Type.Object({
  ...ProjectParams.properties,
  id: Text('The integer id or the UUID.', '5'),
})
const groupQuery = {
  group_type_index: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 4, description: 'Required. Index of the group type, 0 to 4.', examples: [0] }),
  ),
  group_key: Type.Optional(Text('Required. Key of the group.', 'acme')),
}

const projectRoute = routesOf('Persons and groups', { params: ProjectParams })
const personRoute = routesOf('Persons and groups', { params: PersonParams })

export const personRoutes = {
  list: projectRoute.get(`${project}/persons`, {
    operationId: 'listPersons',
    summary: 'List the persons of the project, newest first',
    description: 'Returns a page of persons with their properties and distinct ids.',
    access: inProject('person:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Part of a distinct id or of the properties, case-insensitive.')),
      distinct_id: Type.Optional(Text('Exact distinct id.')),
      email: Type.Optional(Text('Exact value of the property `email`.')),
      properties: Type.Optional(
        Text(
          'JSON array of property filters `{key, value, operator}`, all of which must match, as in a flag condition.',
        ),
      ),
    }),
    responses: { 200: Page(ListedPerson) },
  }),
  get: personRoute.get(`${project}/persons/:id`, {
    operationId: 'getPerson',
    summary: 'Get a person',
    description: 'Accepts the integer id or the UUID.',
    access: inProject('person:read'),
    responses: { 200: Person },
  }),
  remove: personRoute.delete(`${project}/persons/:id`, {
    operationId: 'deletePerson',
    summary: 'Delete a person with all distinct ids and properties; a later event creates a new person',
    description: 'The memberships of the person in static cohorts are deleted as well.',
    access: inProject('person:write'),
    responses: { 202: null },
  }),
}

export const groupRoutes = {
  list: projectRoute.get(`${project}/groups`, {
    operationId: 'listGroups',
    summary: 'List the groups of one type, newest first',
    description: '`group_type_index` selects the type.',
    access: inProject('group:read'),
    query: Type.Object({
      ...pageQuery,
      group_type_index: groupQuery.group_type_index,
      search: Type.Optional(Text('Part of the key or of the properties, case-insensitive.')),
    }),
    responses: { 200: Page(Group) },
  }),
  find: projectRoute.get(`${project}/groups/find`, {
    operationId: 'findGroup',
    summary: 'Get a group',
    description: 'Returns the group with its properties.',
    access: inProject('group:read'),
    query: Type.Object(groupQuery),
    responses: { 200: Group },
  }),
  remove: projectRoute.delete(`${project}/groups`, {
    operationId: 'deleteGroup',
    summary: 'Delete a group and its properties',
    description: 'A later event can create the group again.',
    access: inProject('group:write'),
    query: Type.Object(groupQuery),
    responses: { 204: null },
  }),
  listTypes: projectRoute.get(`${project}/groups_types`, {
    operationId: 'listGroupTypes',
    summary: 'List the group types of the project, at most five',
    description: 'The index of a type is used in flag definitions as `aggregation_group_type_index`.',
    access: inProject('group:read'),
    responses: { 200: Type.Array(GroupType) },
  }),
}
