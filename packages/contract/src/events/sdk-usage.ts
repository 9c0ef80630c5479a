import Type, { type Static } from 'typebox'
import { inProject, route } from '../route.ts'
import { Instant, ProjectParams } from '../schema.ts'

const ConnectedSdk = Type.Object(
  {
    library: Type.String({ description: 'From the user agent, or from `$lib` of events.', examples: ['posthog-node'] }),
    version: Type.String({ description: 'Its version; empty if unknown.', examples: ['5.6.0'] }),
    calls: Type.Integer({ description: 'Number of requests.', examples: [1200] }),
    first_seen_at: Instant('When it called first.'),
    last_seen_at: Instant('When it called last, within a minute.'),
  },
  { title: 'ConnectedSdk', description: 'A library that evaluates flags or sends events.' },
)
export type ConnectedSdk = Static<typeof ConnectedSdk>

export const sdkUsageRoutes = {
  list: route({
    method: 'GET',
    path: '/api/projects/:project_id/connected_sdks',
    tag: 'Connected SDKs',
    operationId: 'listConnectedSdks',
    summary: 'List the SDKs that call the project',
    description:
      'Requests for flags, definitions and events of the last 90 days, at most 100 versions, last seen first. Evaluations on edges are not included.',
    access: inProject('project:read', 'feature_flag:read'),
    params: ProjectParams,
    responses: { 200: Type.Array(ConnectedSdk) },
  }),
}
