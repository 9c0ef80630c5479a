import Type, { type Static } from 'typebox'
import { forViewers, inProject, routesOf } from '../route.ts'
import { IdParam, Instant, ProjectParams } from '../schema.ts'

export const savedViewNameCharactersMax = 100
export const savedViewQueryCharactersMax = 2000

const SavedView = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the view.', examples: [3] }),
    name: Type.String({ description: 'Name of the view.', examples: ['Stale checkout flags'] }),
    query: Type.String({ description: 'Query string of the flag list.', examples: ['state=stale&tag=checkout'] }),
    is_shared: Type.Boolean({ description: 'Whether all members of the project see it.', examples: [false] }),
    is_own: Type.Boolean({ description: 'Whether the caller created it.', examples: [true] }),
    created_at: Instant('When it was saved.'),
  },
  { title: 'SavedView', description: 'Filters and order of the flag list under a name.' },
)
export type SavedView = Static<typeof SavedView>

const route = routesOf('Flag list')
const project = '/api/projects/:project_id' as const
const FlagParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the flag.') })

export const savedViewRoutes = {
  list: route({
    method: 'GET',
    path: `${project}/saved_views`,
    operationId: 'listSavedViews',
    summary: 'List the saved views of the caller and those shared in the project',
    description: 'Sorted by name, at most 100 of each user.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    responses: { 200: Type.Array(SavedView) },
  }),
  create: route({
    method: 'POST',
    path: `${project}/saved_views`,
    operationId: 'createSavedView',
    summary: 'Save filters and order of the flag list',
    description:
      'The name is unique among the views of the caller in the project. Sharing it needs the right to edit flags.',
    access: forViewers(inProject('feature_flag:write')),
    params: ProjectParams,
    body: Type.Object(
      {
        name: Type.String({
          minLength: 1,
          maxLength: savedViewNameCharactersMax,
          description: 'Name of the view.',
          examples: ['Stale checkout flags'],
        }),
        query: Type.String({
          maxLength: savedViewQueryCharactersMax,
          description: 'Query string of the flag list.',
          examples: ['state=stale&tag=checkout'],
        }),
        is_shared: Type.Optional(
          Type.Boolean({ description: 'Show it to all members of the project. Default false.', examples: [false] }),
        ),
      },
      { title: 'SavedViewWrite', description: 'A view to save.' },
    ),
    responses: { 201: SavedView },
  }),
  remove: route({
    method: 'DELETE',
    path: `${project}/saved_views/:id`,
    operationId: 'deleteSavedView',
    summary: 'Delete a saved view',
    description: 'One of the caller; a shared one can also be deleted by an admin.',
    access: forViewers(inProject('feature_flag:write')),
    params: Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the view.') }),
    responses: { 204: null },
  }),
  listFavorites: route({
    method: 'GET',
    path: `${project}/feature_flags/favorites`,
    operationId: 'listFavoriteFlags',
    summary: 'List the ids of the flags that the caller has marked as favorites',
    description: 'At most 1000. Filter the list of flags by `favorite=true` for the flags themselves.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    responses: { 200: Type.Array(Type.Integer({ description: 'Id of a flag.', examples: [12] })) },
  }),
  addFavorite: route({
    method: 'PUT',
    path: `${project}/feature_flags/:id/favorite`,
    operationId: 'addFavoriteFlag',
    summary: 'Mark a flag as a favorite of the caller',
    description: 'Idempotent.',
    access: forViewers(inProject('feature_flag:write')),
    params: FlagParams,
    responses: { 204: null },
  }),
  removeFavorite: route({
    method: 'DELETE',
    path: `${project}/feature_flags/:id/favorite`,
    operationId: 'removeFavoriteFlag',
    summary: 'Remove a flag from the favorites of the caller',
    description: 'Idempotent.',
    access: forViewers(inProject('feature_flag:write')),
    params: FlagParams,
    responses: { 204: null },
  }),
}
