import Type from 'typebox'
import { asUser, route } from './route.ts'

export const changeRoutes = {
  stream: route({
    method: 'GET',
    path: '/api/changes/stream',
    tag: 'Users',
    summary:
      'Stream changes that the caller can see (flags, cohorts, projects, identity, plugins) as server-sent events',
    access: asUser('project:read'),
    answers: { 200: Type.String() },
    mediaType: 'text/event-stream',
  }),
}
