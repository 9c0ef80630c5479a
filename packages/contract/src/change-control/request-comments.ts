import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { IdParam, Instant, Integer, NamedObject, NonEmptyTextInput, Nullable, ProjectParams, Text } from '../schema.ts'

export const requestCommentCharactersMax = 10_000
export const commentsPerRequestMax = 500

export const RequestComment = NamedObject('RequestComment', 'A comment on a change request.', {
  id: Integer('Unique id of the comment.', 5),
  parent_id: Nullable(Integer('The comment that it replies to; null for none.', null)),
  text: Text('The comment.', 'Why not 20% first?'),
  created_by: UserBasic,
  created_at: Instant('When it was written.'),
  edited_at: Nullable(Instant('When its author last edited it; null if never.', null)),
})
export type RequestComment = Static<typeof RequestComment>

const comments = '/api/projects/:project_id/change_requests/:request_id/comments' as const
const RequestParams = Type.Object({ ...ProjectParams.properties, request_id: IdParam('Id of the change request.') })
const CommentParams = Type.Object({ ...RequestParams.properties, comment_id: IdParam('Id of the comment.') })
const CommentText = NonEmptyTextInput(requestCommentCharactersMax, 'The comment.', 'Why not 20% first?')

const requestRoute = routesOf('Change requests', { params: RequestParams })
const commentRoute = routesOf('Change requests', { params: CommentParams })

export const requestCommentRoutes = {
  list: requestRoute.get(comments, {
    operationId: 'listRequestComments',
    summary: 'List the comments on a change request, oldest first',
    description: 'A reply names the comment that it answers in `parent_id`.',
    access: inProject('feature_flag:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(RequestComment) },
  }),
  create: requestRoute.post(comments, {
    operationId: 'createRequestComment',
    summary: 'Comment on a change request, or reply to a comment',
    description: `The requester and those who can approve are notified. At most ${commentsPerRequestMax} comments.`,
    access: inProject('feature_flag:write'),
    body: Type.Object({
      text: CommentText,
      parent_id: Type.Optional(Nullable(Integer('The comment to reply to. A reply has no replies.', null))),
    }),
    responses: { 201: RequestComment },
  }),
  get: commentRoute.get(`${comments}/:comment_id`, {
    operationId: 'getRequestComment',
    summary: 'Get a comment on a change request',
    description: 'Returns the comment as its author last edited it.',
    access: inProject('feature_flag:read'),
    responses: { 200: RequestComment },
  }),
  update: commentRoute.patch(`${comments}/:comment_id`, {
    operationId: 'updateRequestComment',
    summary: 'Edit your own comment',
    description: 'Sets `edited_at`. No one can edit the comments of others.',
    access: inProject('feature_flag:write'),
    body: Type.Object({ text: Type.Optional(CommentText) }),
    responses: { 200: RequestComment },
  }),
  remove: commentRoute.delete(`${comments}/:comment_id`, {
    operationId: 'deleteRequestComment',
    summary: 'Delete a comment with its replies: your own, or any as an admin',
    description: 'The comment cannot be restored. The audit log keeps its text.',
    access: inProject('feature_flag:write'),
    responses: { 204: null },
  }),
}
