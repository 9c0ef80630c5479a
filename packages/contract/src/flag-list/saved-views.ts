import Type, { type Static } from 'typebox'
import { forViewers, inProject, routesOf } from '../route.ts'
import {
  Bool,
  IdParam,
  Instant,
  Integer,
  NamedObject,
  NonEmptyTextInput,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'

export const savedViewNameCharactersMax = 100
export const savedViewQueryCharactersMax = 2000

const SavedView = NamedObject('SavedView', 'Filters and order of the flag list under a name.', {
  id: Integer('Id of the view.', 3),
  name: Text('Name of the view.', 'Stale checkout flags'),
  query: Text('Query string of the flag list.', 'state=stale&tag=checkout'),
  is_shared: Bool('Whether all members of the project see it.', false),
  is_own: Bool('Whether the caller created it.', true),
  created_at: Instant('When it was saved.'),
})
export type SavedView = Static<typeof SavedView>

const project = '/api/projects/:project_id' as const
const FlagParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the flag.') })

const projectRoute = routesOf('Flag list', { params: ProjectParams })
const route = routesOf('Flag list')
const flagRoute = routesOf('Flag list', { params: FlagParams })

export const savedViewRoutes = {
  list: projectRoute.get(`${project}/saved_views`, {
    operationId: 'listSavedViews',
    summary: 'List the saved views of the caller and those shared in the project',
    description: 'Sorted by name, at most 100 of each user.',
    access: inProject('feature_flag:read'),
    responses: { 200: Type.Array(SavedView) },
  }),
  create: projectRoute.post(`${project}/saved_views`, {
    operationId: 'createSavedView',
    summary: 'Save filters and order of the flag list',
    description:
      'The name is unique among the views of the caller in the project. Sharing it needs the right to edit flags.',
    access: forViewers(inProject('feature_flag:write')),
    body: NamedObject('SavedViewWrite', 'A view to save.', {
      name: NonEmptyTextInput(savedViewNameCharactersMax, 'Name of the view.', 'Stale checkout flags'),
      query: TextInput(savedViewQueryCharactersMax, 'Query string of the flag list.', 'state=stale&tag=checkout'),
      is_shared: Type.Optional(Bool('Show it to all members of the project. Default false.', false)),
    }),
    responses: { 201: SavedView },
  }),
  remove: route.delete(`${project}/saved_views/:id`, {
    operationId: 'deleteSavedView',
    summary: 'Delete a saved view',
    description: 'One of the caller; a shared one can also be deleted by an admin.',
    access: forViewers(inProject('feature_flag:write')),
    params: Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the view.') }),
    responses: { 204: null },
  }),
  listFavorites: projectRoute.get(`${project}/feature_flags/favorites`, {
    operationId: 'listFavoriteFlags',
    summary: 'List the ids of the flags that the caller has marked as favorites',
    description: 'At most 1000. Filter the list of flags by `favorite=true` for the flags themselves.',
    access: inProject('feature_flag:read'),
    responses: { 200: Type.Array(Integer('Id of a flag.', 12)) },
  }),
  addFavorite: flagRoute.put(`${project}/feature_flags/:id/favorite`, {
    operationId: 'addFavoriteFlag',
    summary: 'Mark a flag as a favorite of the caller',
    description: 'Idempotent.',
    access: forViewers(inProject('feature_flag:write')),
    responses: { 204: null },
  }),
  removeFavorite: flagRoute.delete(`${project}/feature_flags/:id/favorite`, {
    operationId: 'removeFavoriteFlag',
    summary: 'Remove a flag from the favorites of the caller',
    description: 'Idempotent.',
    access: forViewers(inProject('feature_flag:write')),
    responses: { 204: null },
  }),
}
