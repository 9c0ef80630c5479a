import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Instant, InstantInput, Integer, List, NamedObject, Nullable, ProjectParams, Text } from '../schema.ts'

export const InboxItem = NamedObject(
  'InboxItem',
  'Something that happened to a change request that the caller takes part in.',
  {
    kind: Type.String({
      enum: ['approved', 'rejected', 'applied', 'cancelled', 'expired', 'failed', 'conflicted', 'commented'],
      description: 'What happened.',
      examples: ['approved'],
    }),
    at: Instant('When it happened.'),
    by: Nullable(UserBasic),
    request_id: Integer('Id of the change request.', 21),
    title: Text('Title of the change request.', 'Update new-checkout'),
    state: Text('State of the change request now.', 'applied'),
    flag_id: Nullable(Integer('Id of its flag; null for a cohort or a new flag.', 12)),
    text: Text('The comment or the reason; empty for none.', 'Looks right.'),
    is_unread: Bool('Whether it is newer than what the caller has seen.'),
  },
)
export type InboxItem = Static<typeof InboxItem>

export const Inbox = NamedObject(
  'Inbox',
  'What waits for the caller, and what others did with requests of the caller.',
  {
    waiting: Integer('Number of change requests that wait for the decision of the caller.'),
    unread: Integer('Number of unread items.'),
    seen_until: Nullable(Instant('Until when the caller has seen the items; null for never.', null)),
    results: List(InboxItem, 'The newest items, newest first.'),
  },
)
export type Inbox = Static<typeof Inbox>

const route = routesOf('Change requests', { params: ProjectParams })

export const inboxRoutes = {
  get: route.get('/api/projects/:project_id/inbox', {
    operationId: 'getInbox',
    summary: 'Get what waits for you, and what others decided and commented',
    description:
      'Decisions about your own requests, and comments on requests that you opened, decided or commented on. Your own actions are left out.',
    access: inProject('feature_flag:read'),
    responses: { 200: Inbox },
  }),
  markSeen: route.post('/api/projects/:project_id/inbox/seen', {
    operationId: 'markInboxSeen',
    summary: 'Mark the items of your inbox as read',
    description: 'Items until that time are read from then on. An earlier time than before changes nothing.',
    access: inProject('feature_flag:read'),
    isAudited: false,
    body: Type.Object({ until: InstantInput('Time of the newest item that you have seen.') }),
    responses: { 204: null },
  }),
}
