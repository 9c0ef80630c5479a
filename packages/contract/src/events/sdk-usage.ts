import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { Instant, Integer, NamedObject, ProjectParams, Text } from '../schema.ts'

const ConnectedSdk = NamedObject('ConnectedSdk', 'A library that evaluates flags or sends events.', {
  library: Text('From the user agent, or from `$lib` of events.', 'posthog-node'),
  version: Text('Its version; empty if unknown.', '5.6.0'),
  calls: Integer('Number of requests.', 1200),
  first_seen_at: Instant('When it called first.'),
  last_seen_at: Instant('When it called last, within a minute.'),
})
export type ConnectedSdk = Static<typeof ConnectedSdk>

const route = routesOf('Connected SDKs')

export const sdkUsageRoutes = {
  list: route.get('/api/projects/:project_id/connected_sdks', {
    operationId: 'listConnectedSdks',
    summary: 'List the SDKs that call the project',
    description:
      'Requests for flags, definitions and events of the last 90 days, at most 100 versions, last seen first. Evaluations on edges are not included.',
    access: inProject('project:read', 'feature_flag:read'),
    params: ProjectParams,
    responses: { 200: Type.Array(ConnectedSdk) },
  }),
}
