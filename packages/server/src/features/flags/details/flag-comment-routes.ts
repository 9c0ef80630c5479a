import { type FlagComment as CommentWire, routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { forbidden, invalid, missing } from '../../../problem.ts'
import { adminLevel, levelInProject } from '../../../tenancy.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { placeOf } from '../../projects/create-project.ts'
import { getFlag } from '../flag-routes.ts'
import type { FlagComment } from './flag-details.ts'

const commentsPerFlagMax = 1000

export function serveFlagComments(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.flagDetails

  serve(r.listComments, ({ project, params, query, url }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const window = readWindow(query)
      return pageBody(await tx.flagDetails.listComments(project.id, flag.id, window), window, url, commentToWire)
    }),
  )

  serve(r.createComment, async request => {
    const { actor, project, params } = request
    return database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const text = request.body.text.trim()
      if (text === '') throw invalid('text', 'blank', 'text must not be blank.')
      const { count } = await tx.flagDetails.listComments(project.id, flag.id, { limit: 1, offset: 0 })
      if (count >= commentsPerFlagMax) {
        throw invalid('text', 'limit_reached', `A flag can have at most ${commentsPerFlagMax} comments.`)
      }
      const comment = { flagId: flag.id, text, createdBy: actor.user, createdAt: now() }
      const added = await tx.flagDetails.addComment(project.id, comment)
      const record = {
        scope: 'Comment',
        itemId: added.id,
        name: flag.key,
        activity: 'created',
        after: { text },
      } as const
      recordAudit(tx, actor, placeOf(project), record, now())
      return commentToWire(added)
    })
  })

  serve(r.deleteComment, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const comment = await tx.flagDetails.findComment(project.id, flag.id, Number(params.comment_id))
      if (!comment) throw missing('Comment')
      const isAdmin = (levelInProject(actor, project) ?? 0) >= adminLevel
      if (comment.createdBy.id !== actor.user.id && !isAdmin) {
        throw forbidden('Only its author or an admin can delete a comment.')
      }
      await tx.flagDetails.removeComment(comment.id)
      const before = { text: comment.text }
      const record = { scope: 'Comment', itemId: comment.id, name: flag.key, activity: 'deleted', before } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    })
    return answer({ status: 204 })
  })
}

const commentToWire = ({ id, text, createdBy, createdAt }: FlagComment): CommentWire => ({
  id,
  text,
  created_by: userToWire(createdBy),
  created_at: createdAt,
})
