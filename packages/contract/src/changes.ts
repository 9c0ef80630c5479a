import Type from 'typebox'
import { asUser, route } from './route.ts'

export const changeRoutes = {
  stream: route({
    method: 'GET',
    path: '/api/changes/stream',
    tag: 'Users',
    summary:
      'Server-sent events: of what kind (flag, cohort, project, identity, plugin), where and which one, whenever something changes that the caller may see',
    access: asUser('project:read'),
    answers: { 200: Type.String() },
    mediaType: 'text/event-stream',
  }),
}
