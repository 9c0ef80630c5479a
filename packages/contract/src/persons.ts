import Type, { type Static } from 'typebox'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import { FreeObject, Instant, Nullable, ProjectParams, Uuid } from './schema.ts'

/** Persons are created by events and can be read and deleted here. In a list, `id` is the UUID, as in PostHog. */
const personFields = {
  uuid: Uuid(),
  name: Type.String({ description: 'The first of the properties email, name and username, else a distinct id.' }),
  distinct_ids: Type.Array(Type.String(), { description: 'At most 100.' }),
  properties: FreeObject(),
  is_identified: Type.Boolean(),
  created_at: Instant(),
}
export const Person = Type.Object({ id: Type.Integer(), ...personFields })
export type Person = Static<typeof Person>

export const ListedPerson = Type.Object({
  type: Type.Literal('person'),
  id: Uuid(),
  ...personFields,
  matched_recordings: Type.Array(Type.Unknown()),
  value_at_data_point: Type.Null(),
})
export type ListedPerson = Static<typeof ListedPerson>

export const Group = Type.Object({
  group_type_index: Type.Integer({ minimum: 0, maximum: 4 }),
  group_key: Type.String(),
  group_properties: FreeObject(),
  created_at: Instant(),
})
export type Group = Static<typeof Group>

export const GroupType = Type.Object({
  group_type: Type.String(),
  group_type_index: Type.Integer({ minimum: 0, maximum: 4 }),
  name_singular: Nullable(Type.String()),
  name_plural: Nullable(Type.String()),
})
export type GroupType = Static<typeof GroupType>

const tag = 'Persons and groups'
const project = '/api/projects/:project_id' as const
const PersonParams = Type.Object({
  ...ProjectParams.properties,
  id: Type.String({ description: 'The integer id or the UUID.' }),
})
const groupQuery = {
  group_type_index: Type.Optional(Type.String({ description: 'Required, 0 to 4.' })),
  group_key: Type.Optional(Type.String({ description: 'Required.' })),
}

export const personRoutes = {
  list: route({
    method: 'GET',
    path: `${project}/persons`,
    tag,
    summary: 'List the persons of the project, newest first',
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
    answers: { 200: Page(ListedPerson) },
  }),
  get: route({
    method: 'GET',
    path: `${project}/persons/:id`,
    tag,
    summary: 'Get a person',
    access: inProject('person:read'),
    params: PersonParams,
    answers: { 200: Person },
  }),
  remove: route({
    method: 'DELETE',
    path: `${project}/persons/:id`,
    tag,
    summary: 'Delete a person with all distinct ids and properties; a later event creates a new person',
    access: inProject('person:write'),
    params: PersonParams,
    answers: { 202: null },
  }),
}

export const groupRoutes = {
  list: route({
    method: 'GET',
    path: `${project}/groups`,
    tag,
    summary: 'List the groups of one type, newest first',
    access: inProject('group:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      group_type_index: groupQuery.group_type_index,
      search: Type.Optional(Type.String({ description: 'Part of the key or of the properties, case-insensitive.' })),
    }),
    answers: { 200: Page(Group) },
  }),
  find: route({
    method: 'GET',
    path: `${project}/groups/find`,
    tag,
    summary: 'Get a group',
    access: inProject('group:read'),
    params: ProjectParams,
    query: Type.Object(groupQuery),
    answers: { 200: Group },
  }),
  remove: route({
    method: 'DELETE',
    path: `${project}/groups`,
    tag,
    summary: 'Delete a group and its properties',
    access: inProject('group:write'),
    params: ProjectParams,
    query: Type.Object(groupQuery),
    answers: { 204: null },
  }),
  listTypes: route({
    method: 'GET',
    path: `${project}/groups_types`,
    tag,
    summary: 'List the group types of the project, at most five',
    access: inProject('group:read'),
    params: ProjectParams,
    answers: { 200: Type.Array(GroupType) },
  }),
}
