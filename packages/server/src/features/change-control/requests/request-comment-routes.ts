import { type RequestComment as CommentWire, commentsPerRequestMax, routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import type { Instant } from '../../../instant.ts'
import { forbidden, invalid, missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, adminLevel, levelInProject, type Project } from '../../../tenancy.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { placeOf } from '../../projects/create-project.ts'
import { getRequest } from './decide-request.ts'
import { publishRequest, recordRequest } from './record-request.ts'
import type { RequestComment } from './request-comment-store.sql.ts'

export function serveRequestComments(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.requestComments

  serve(r.list, ({ project, params, query, url }) =>
    database.read(async tx => {
      const request = await getRequest(tx, project, Number(params.request_id))
      const window = readWindow(query)
      return pageBody(await tx.requestComments.list(project.id, request.id, window), window, url, commentToWire)
    }),
  )

  serve(r.create, async ({ actor, project, params, body }) =>
    database.transaction(async tx => {
      const request = await getRequest(tx, project, Number(params.request_id))
      const text = readText(body.text)
      const parentId = await readParent(tx, project, request.id, body.parent_id ?? null)
      const { count } = await tx.requestComments.list(project.id, request.id, { limit: 1, offset: 0 })
      if (count >= commentsPerRequestMax) {
        throw invalid('text', 'limit_reached', `A change request can have at most ${commentsPerRequestMax} comments.`)
      }
      const at = now()
      const comment = { requestId: request.id, parentId, text, createdBy: actor.user, createdAt: at, editedAt: null }
      const added = await tx.requestComments.add(project.id, comment)
      await recordRequest(tx, actor, project, request, 'change_commented', { reason: text, comment: added.id }, at)
      return commentToWire(added)
    }),
  )

  serve(r.get, ({ project, params }) =>
    database.read(async tx => commentToWire((await getComment(tx, project, params)).comment)),
  )

  serve(r.update, async ({ actor, project, params, body }) =>
    database.transaction(async tx => {
      const { request, comment } = await getComment(tx, project, params)
      if (comment.createdBy.id !== actor.user.id) throw forbidden('Only its author can edit a comment.')
      const text = body.text === undefined ? comment.text : readText(body.text)
      if (text === comment.text) return commentToWire(comment)
      const edited = { ...comment, text, editedAt: now() }
      await tx.requestComments.edit(edited)
      auditComment(tx, actor, project, comment, { name: request.title, activity: 'updated', after: { text } }, now())
      await publishRequest(tx, project, request, now())
      return commentToWire(edited)
    }),
  )

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const { request, comment } = await getComment(tx, project, params)
      const isAdmin = (levelInProject(actor, project) ?? 0) >= adminLevel
      if (comment.createdBy.id !== actor.user.id && !isAdmin) {
        throw forbidden('Only its author or an admin can delete a comment.')
      }
      await tx.requestComments.remove(comment.id)
      auditComment(tx, actor, project, comment, { name: request.title, activity: 'deleted' }, now())
      await publishRequest(tx, project, request, now())
    })
    return answer({ status: 204 })
  })
}

function auditComment(
  tx: Stores,
  actor: Actor,
  project: Project,
  { id, text }: RequestComment,
  change: { readonly name: string; readonly activity: string; readonly after?: { readonly text: string } },
  now: Instant,
): void {
  recordAudit(tx, actor, placeOf(project), { scope: 'Comment', itemId: id, before: { text }, ...change }, now)
}

async function getComment(
  tx: Stores,
  project: Project,
  params: { readonly request_id: string; readonly comment_id: string },
) {
  const request = await getRequest(tx, project, Number(params.request_id))
  const comment = await tx.requestComments.find(project.id, request.id, Number(params.comment_id))
  if (!comment) throw missing('Comment')
  return { request, comment }
}

/** Replies to a reply would be a tree; a conversation is two levels. */
async function readParent(
  tx: Stores,
  project: Project,
  requestId: number,
  parentId: number | null,
): Promise<number | null> {
  if (parentId === null) return null
  const parent = await tx.requestComments.find(project.id, requestId, parentId)
  if (!parent) throw invalid('parent_id', 'does_not_exist', `This change request has no comment with id ${parentId}.`)
  return parent.parentId ?? parent.id
}

function readText(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') throw invalid('text', 'blank', 'text must not be blank.')
  return trimmed
}

const commentToWire = ({ id, parentId, text, createdBy, createdAt, editedAt }: RequestComment): CommentWire => ({
  id,
  parent_id: parentId,
  text,
  created_by: userToWire(createdBy),
  created_at: createdAt,
  edited_at: editedAt,
})
