import { asUser, routesOf } from '../route.ts'
import { EventStream } from '../schema.ts'

const route = routesOf('Users')

export const changeRoutes = {
  stream: route.get('/api/changes/stream', {
    operationId: 'streamChanges',
    summary:
      'Stream changes that the caller can see (flags, cohorts, projects, identity, plugins, progress) as server-sent events',
    description:
      'Each event is JSON with the type and id of what changed. The stream stays open; clients reconnect when it ends. It resumes from `Last-Event-ID` with a `resume` event; an `open` event means that changes may have been missed. Progress (`cohort_progress`, `cohort_count`, `plugin_log`, `plugin_job`) is sent at most once a second per object, has no event id and is not repeated.',
    access: asUser('project:read'),
    responses: { 200: EventStream() },
    mediaType: 'text/event-stream',
  }),
}
