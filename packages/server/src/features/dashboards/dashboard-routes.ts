import { dashboardTilesMax, routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { canEditFlag } from '../access/access.ts'
import { grantsFor, requireCanEdit, requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { flagToWire, patchFromWire } from '../flags/flag-resource.ts'
import { getFlag } from '../flags/flag-routes.ts'
import { placeOf } from '../projects/create-project.ts'
import type { Dashboard, DashboardPatch } from './dashboard.ts'
import { dashboardPatchFromWire, dashboardToBasic } from './dashboard-resource.ts'
import { readDayRange } from './day-range.ts'
import { ensureUsageDashboard } from './ensure-usage-dashboard.ts'
import { findTiles, savedDashboard, showDashboard, showSavedDashboard } from './show-dashboard.ts'
import { unlinkDashboard } from './unlink-dashboard.ts'

/** Serves dashboards and the two flag actions that create and enrich a usage dashboard. */
export function serveDashboards(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.dashboards

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const filter = query.search ? { search: query.search } : {}
      return pageBody(await tx.dashboards.list(project.id, filter, window), window, url, dashboardToBasic)
    }),
  )

  serve(r.create, async ({ actor, project, body }) => {
    const patch = dashboardPatchFromWire(body)
    const time = now()
    const saved = await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      await checkTiles(tx, project, patch)
      const dashboard = await tx.dashboards.create({
        projectId: project.id,
        name: patch.name ?? 'Untitled dashboard',
        description: patch.description ?? '',
        isPinned: patch.isPinned ?? false,
        isDeleted: patch.isDeleted ?? false,
        flagId: null,
        isEnriched: false,
        tags: patch.tags ?? [],
        tiles: patch.tiles ?? [],
        createdBy: actor.user,
        createdAt: time,
      })
      recordDashboard(tx, actor, project, undefined, dashboard, time)
      return savedDashboard(tx, dashboard, time)
    })
    return showSavedDashboard(database, saved, time)
  })

  serve(r.get, async ({ project, params, query }) => {
    const time = now()
    const { dashboard, tiles, countedUntil } = await database.read(async tx => {
      const stored = await getDashboard(tx, project, params.id)
      if (stored.isDeleted) throw missing('Dashboard')
      const countedUntil = await tx.eventBacklog.countedUntil(time)
      return { dashboard: stored, tiles: await findTiles(tx, stored), countedUntil }
    })
    // Without a transaction: no connection is held while ClickHouse is queried.
    return database.query(tx => showDashboard(tx, dashboard, tiles, readDayRange(query, time), countedUntil))
  })

  serve(r.update, async request => {
    const { actor, project, params } = request
    const stored = await database.read(tx => getDashboard(tx, project, params.id))
    const patch = dashboardPatchFromWire(request.body)
    // A deleted dashboard accepts only a restore.
    if (stored.isDeleted && patch.isDeleted !== false) throw missing('Dashboard')
    const time = now()
    const saved = await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      await checkTiles(tx, project, patch)
      await tx.dashboards.update(stored.id, patch)
      if (patch.isDeleted) await unlinkDashboard(tx, actor, project, stored.id, time)
      const changed = await getDashboard(tx, project, params.id)
      recordDashboard(tx, actor, project, stored, changed, time)
      return savedDashboard(tx, changed, time)
    })
    return showSavedDashboard(database, saved, time)
  })

  serve(r.remove, async () => {
    throw new Problem('method_not_allowed', 'Dashboards are deleted by PATCH with `deleted: true`.', {
      allow: ['GET', 'HEAD', 'PATCH'],
    })
  })

  const ensure = async (actor: Actor, project: Project, id: string, isEnriched: boolean) => {
    const time = now()
    const saved = await database.transaction(async tx => {
      const storedFlag = await getFlag(tx, project, id)
      const { flag, dashboard } = await ensureUsageDashboard(tx, actor, project, storedFlag, { isEnriched }, time)
      const flagBody = flagToWire(flag, canEditFlag(await grantsFor(tx, actor, project), flag))
      return { flagBody, ...(await savedDashboard(tx, dashboard, time)) }
    })
    return {
      ...saved.flagBody,
      dashboard: await showSavedDashboard(database, saved, time),
      success: true as const,
    }
  }

  serve(r.ofFlag, async request => {
    const { actor, project, params } = request
    await database.read(async tx => requireCanEdit(tx, actor, project, await getFlag(tx, project, params.id)))
    // The body is validated like a write but has no effect.
    patchFromWire(request.body)
    return ensure(actor, project, params.id, false)
  })

  serve(r.enrich, async request => {
    const { actor, project, params } = request
    await database.read(async tx => requireCanEdit(tx, actor, project, await getFlag(tx, project, params.id)))
    patchFromWire(request.body)
    return ensure(actor, project, params.id, true)
  })
}

function recordDashboard(
  tx: Stores,
  actor: Actor,
  project: Project,
  before: Dashboard | undefined,
  after: Dashboard,
  now: Instant,
): void {
  const fields = ({ name, description, isPinned, isDeleted, tags, tiles }: Dashboard) => ({
    ...{ name, description, tags, tiles },
    pinned: isPinned,
    deleted: isDeleted,
  })
  const change = before
    ? { activity: 'updated', before: fields(before), after: fields(after) }
    : { activity: 'created', after: fields(after) }
  const record = { scope: 'Dashboard', itemId: after.id, name: after.name, ...change } as const
  recordAudit(tx, actor, placeOf(project), record, now)
}

async function getDashboard(tx: Stores, project: Project, id: string): Promise<Dashboard> {
  const dashboard = await tx.dashboards.find(project.id, Number(id))
  if (!dashboard) throw missing('Dashboard')
  return dashboard
}

async function checkTiles(tx: Stores, project: Project, { tiles = [] }: DashboardPatch): Promise<void> {
  if (tiles.length > dashboardTilesMax) {
    throw invalid('tiles', 'max_length', `A dashboard can have at most ${dashboardTilesMax} tiles.`)
  }
  const ids = [...new Set(tiles.map(tile => tile.flagId))]
  const liveIds = new Set((await tx.flags.findLive(project.id, ids)).map(flag => flag.id))
  const unknown = ids.find(id => !liveIds.has(id))
  if (unknown !== undefined) throw invalid('tiles', 'does_not_exist', `This project has no flag with id ${unknown}.`)
}
