import { routes, type SavedView as SavedViewWire } from '@halyard/contract'
import { storable } from '../../domain/distinct-id.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid, missing } from '../../problem.ts'
import { type Actor, adminLevel, levelInProject } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { getFlag } from '../flags/flag-routes.ts'
import { placeOf } from '../projects/create-project.ts'
import type { SavedView } from './saved-view.ts'

export function serveSavedViews(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.savedViews

  serve(r.list, async ({ actor, project }) => {
    const views = await database.query(tx => tx.savedViews.list(project.id, actor.user.id))
    return views.map(view => viewToWire(view, actor))
  })

  serve(r.create, async ({ actor, project, body }) => {
    const name = storable(body.name).trim()
    if (name === '') throw invalid('name', 'blank', '`name` must not be blank.')
    const view = {
      userId: actor.user.id,
      name,
      query: storable(body.query),
      isShared: body.is_shared ?? false,
      createdAt: now(),
    }
    const created = await database.transaction(async tx => {
      if (view.isShared) await requireNoViewer(tx, actor, project)
      const saved = await tx.savedViews.create(project.id, view)
      const after = { query: saved.query, is_shared: saved.isShared }
      const record = { scope: 'SavedView', itemId: saved.id, name, activity: 'created', after } as const
      recordAudit(tx, actor, placeOf(project), record, now())
      return saved
    })
    return answer({ status: 201, body: viewToWire(created, actor) })
  })

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const view = await tx.savedViews.find(project.id, Number(params.id))
      const isAdmin = (levelInProject(actor, project) ?? 0) >= adminLevel
      if (!view || (view.userId !== actor.user.id && !(view.isShared && isAdmin))) throw missing('Saved view')
      await tx.savedViews.remove(project.id, view.id)
      const record = { scope: 'SavedView', itemId: view.id, name: view.name, activity: 'deleted' } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    })
    return answer({ status: 204 })
  })

  serve(r.listFavorites, async ({ actor, project }) => [
    ...(await database.query(tx => tx.savedViews.listFavorites(project.id, actor.user.id))),
  ])

  serve(r.addFavorite, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const { id } = await getFlag(tx, project, params.id)
      await tx.savedViews.addFavorite(project.id, actor.user.id, id)
    })
    return answer({ status: 204 })
  })

  serve(r.removeFavorite, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const { id } = await getFlag(tx, project, params.id)
      await tx.savedViews.removeFavorite(project.id, actor.user.id, id)
    })
    return answer({ status: 204 })
  })
}

const viewToWire = (view: SavedView, { user }: Actor): SavedViewWire => ({
  id: view.id,
  name: view.name,
  query: view.query,
  is_shared: view.isShared,
  is_own: view.userId === user.id,
  created_at: view.createdAt,
})
