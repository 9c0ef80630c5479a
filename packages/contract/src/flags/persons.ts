import Type, { type Static } from 'typebox'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { FreeObject, Instant, Nullable, ProjectParams, Uuid } from '../schema.ts'

/** Persons are created by events and can be read and deleted here. In a list, `id` is the UUID, as in PostHog. */
const personFields = {
  uuid: Uuid('UUID of the person.'),
  name: Type.String({
    description: 'The first of the properties email, name and username, else a distinct id.',
    examples: ['ada@example.com'],
  }),
  distinct_ids: Type.Array(Type.String(), { description: 'At most 100.', examples: [['user-1']] }),
  properties: FreeObject('Properties of the person.', { email: 'ada@example.com', plan: 'pro' }),
  is_identified: Type.Boolean({ description: 'Whether the person has signed in (`$identify`).', examples: [true] }),
  created_at: Instant('When the person was created.'),
}
export const Person = Type.Object(
  { id: Type.Integer({ description: 'Unique id of the person.', examples: [5] }), ...personFields },
  { title: 'Person', description: 'A person, created by events.' },
)
export type Person = Static<typeof Person>

export const ListedPerson = Type.Object(
  {
    type: Type.Literal('person', { description: 'Always `person`.' }),
    id: Uuid('UUID of the person.'),
    ...personFields,
    matched_recordings: Type.Array(Type.Unknown(), { description: 'Always empty.', examples: [[]] }),
    value_at_data_point: Type.Null({ description: 'Always null.' }),
  },
  { title: 'ListedPerson', description: 'A person in a list.' },
)
export type ListedPerson = Static<typeof ListedPerson>

export const Group = Type.Object(
  {
    group_type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type.', examples: [0] }),
    group_key: Type.String({ description: 'Key of the group.', examples: ['acme'] }),
    group_properties: FreeObject('Properties of the group.', { plan: 'enterprise' }),
    created_at: Instant('When the group was created.'),
  },
  { title: 'Group', description: 'A group, such as a company, with its properties.' },
)
export type Group = Static<typeof Group>

export const GroupType = Type.Object(
  {
    group_type: Type.String({ description: 'Name of the group type.', examples: ['company'] }),
    group_type_index: Type.Integer({
      minimum: 0,
      maximum: 4,
      description: 'Index of the group type, 0 to 4.',
      examples: [0],
    }),
    name_singular: Nullable(Type.String({ description: 'Display name of one group.', examples: [null] })),
    name_plural: Nullable(Type.String({ description: 'Display name of several groups.', examples: [null] })),
  },
  { title: 'GroupType', description: 'A type of group, such as `company`.' },
)
export type GroupType = Static<typeof GroupType>

const route = routesOf('Persons and groups')
const project = '/api/projects/:project_id' as const
const PersonParams = Type.Object({
  ...ProjectParams.properties,
  id: Type.String({ description: 'The integer id or the UUID.', examples: ['5'] }),
})
const groupQuery = {
  group_type_index: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 4, description: 'Required. Index of the group type, 0 to 4.', examples: [0] }),
  ),
  group_key: Type.Optional(Type.String({ description: 'Required. Key of the group.', examples: ['acme'] })),
}

export const personRoutes = {
  list: route({
    method: 'GET',
    path: `${project}/persons`,
    operationId: 'listPersons',
    summary: 'List the persons of the project, newest first',
    description: 'Returns a page of persons with their properties and distinct ids.',
    access: inProject('person:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(
        Type.String({ description: 'Part of a distinct id or of the properties, case-insensitive.' }),
      ),
      distinct_id: Type.Optional(Type.String({ description: 'Exact distinct id.' })),
      email: Type.Optional(Type.String({ description: 'Exact value of the property `email`.' })),
      properties: Type.Optional(
        Type.String({
          description:
            'JSON array of property filters `{key, value, operator}`, all of which must match, as in a flag condition.',
        }),
      ),
    }),
    responses: { 200: Page(ListedPerson) },
  }),
  get: route({
    method: 'GET',
    path: `${project}/persons/:id`,
    operationId: 'getPerson',
    summary: 'Get a person',
    description: 'Accepts the integer id or the UUID.',
    access: inProject('person:read'),
    params: PersonParams,
    responses: { 200: Person },
  }),
  remove: route({
    method: 'DELETE',
    path: `${project}/persons/:id`,
    operationId: 'deletePerson',
    summary: 'Delete a person with all distinct ids and properties; a later event creates a new person',
    description: 'The memberships of the person in static cohorts are deleted as well.',
    access: inProject('person:write'),
    params: PersonParams,
    responses: { 202: null },
  }),
}

export const groupRoutes = {
  list: route({
    method: 'GET',
    path: `${project}/groups`,
    operationId: 'listGroups',
    summary: 'List the groups of one type, newest first',
    description: '`group_type_index` selects the type.',
    access: inProject('group:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      group_type_index: groupQuery.group_type_index,
      search: Type.Optional(Type.String({ description: 'Part of the key or of the properties, case-insensitive.' })),
    }),
    responses: { 200: Page(Group) },
  }),
  find: route({
    method: 'GET',
    path: `${project}/groups/find`,
    operationId: 'findGroup',
    summary: 'Get a group',
    description: 'Returns the group with its properties.',
    access: inProject('group:read'),
    params: ProjectParams,
    query: Type.Object(groupQuery),
    responses: { 200: Group },
  }),
  remove: route({
    method: 'DELETE',
    path: `${project}/groups`,
    operationId: 'deleteGroup',
    summary: 'Delete a group and its properties',
    description: 'A later event can create the group again.',
    access: inProject('group:write'),
    params: ProjectParams,
    query: Type.Object(groupQuery),
    responses: { 204: null },
  }),
  listTypes: route({
    method: 'GET',
    path: `${project}/groups_types`,
    operationId: 'listGroupTypes',
    summary: 'List the group types of the project, at most five',
    description: 'The index of a type is used in flag definitions as `aggregation_group_type_index`.',
    access: inProject('group:read'),
    params: ProjectParams,
    responses: { 200: Type.Array(GroupType) },
  }),
}
