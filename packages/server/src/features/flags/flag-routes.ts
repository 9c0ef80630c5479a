import { routes } from '@halyard/contract'
import type { Flag } from '../../domain/flag.ts'
import { activityBody, readActivityWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { canEditFlag } from '../access/access.ts'
import { grantsFor, requireCanEdit, requireNoViewer } from '../access/grants.ts'
import { activityToWire } from '../activity/activity-resource.ts'
import { readActivityFilter } from '../activity/read-activity-filter.ts'
import { readFlagFilter } from './flag-filter.ts'
import { createFlagPages } from './flag-pages.ts'
import { blankFlag, flagToWire, patchFromWire } from './flag-resource.ts'
import { flagStatus } from './flag-status.ts'
import type { FlagWrites } from './flag-writes.ts'
import { planFlagCreation, planFlagUpdate } from './plan-flag.ts'

interface Deps extends RouteDeps {
  readonly changes: ChangeFeed
  readonly writes: FlagWrites
}

/** Contract 4.2, the flags themselves and what happened to them. */
export function serveFlags(serve: ServeRoute, { database, changes, writes, now }: Deps): void {
  const r = routes.flags
  const listFlags = createFlagPages({ database, changes }, flagToWire)

  serve(r.list, async request =>
    answer({ status: 200, body: await listFlags(request, readFlagFilter(request.query, now())) }),
  )

  serve(r.create, async request => {
    const { actor, project, body } = request
    const patch = { ...patchFromWire(body), key: body.key }
    return writes.saveFlag(
      request,
      async tx => {
        await requireNoViewer(tx, actor, project)
        return planFlagCreation(tx, actor, project, { patch }, now())
      },
      flag => flagToWire(flag, true),
    )
  })

  serve(r.get, ({ actor, project, params }) =>
    database.read(async tx => toWire(tx, actor, project, await getFlag(tx, project, params.id))),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    return writes.saveFlag(
      request,
      async tx => {
        // An unknown flag is 404 and a forbidden one 403, whatever the body: its problems are raised after that.
        const stored = await getFlag(tx, project, params.id)
        await requireCanEdit(tx, actor, project, stored)
        const { version, ...body } = request.body
        const update = { stored, patch: patchFromWire(body), basedOnVersion: version }
        return planFlagUpdate(tx, actor, project, update, now())
      },
      // The response is built inside the transaction: nothing can fail after the commit.
      flag => flagToWire(flag, true),
    )
  })

  serve(r.remove, async () => answer({ status: 405, headers: { allow: 'GET, HEAD, PATCH' } }))

  serve(r.status, ({ project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const lastCalledAt = (await tx.usage.lastUsed(project.id, 'called')).get(flag.key) ?? null
      const { status, reason } = flagStatus(flag, lastCalledAt, now())
      return { status, reason, last_called_at: lastCalledAt }
    }),
  )

  serve(r.activity, ({ actor, project, params, query, url }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const window = readActivityWindow(query)
      const filter = { ...(await readActivityFilter(tx, query)), itemId: String(flag.id) }
      const page = await tx.activity.list({ ...flagsOf(project), ...filter }, window)
      return { ...(await toWire(tx, actor, project, flag)), ...activityBody(page, window, url, activityToWire) }
    }),
  )

  serve(r.projectActivity, ({ actor, project, query, url }) =>
    database.read(async tx => {
      const window = readActivityWindow(query)
      const page = await tx.activity.list({ ...flagsOf(project), ...(await readActivityFilter(tx, query)) }, window)
      return { ...blankFlag(actor, project), ...activityBody(page, window, url, activityToWire) }
    }),
  )
}

const flagsOf = (project: Project) => ({
  organizationId: project.organizationId,
  projectId: project.id,
  scopes: ['FeatureFlag'] as const,
})

export async function getFlag(tx: Stores, project: Project, id: string): Promise<Flag> {
  const flag = await tx.flags.find(project.id, Number(id))
  if (!flag) throw missing('Flag')
  return flag
}

const toWire = async (tx: Stores, actor: Actor, project: Project, flag: Flag) =>
  flagToWire(flag, canEditFlag(await grantsFor(tx, actor, project), flag))
