import { routes } from '@halyard/contract'
import type { ActivityFilter } from '../../domain/activity.ts'
import { activityBody, pageBody, readActivityWindow, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Organization } from '../../tenancy.ts'
import { activityToWire } from '../activity/activity-resource.ts'
import { readActivityFilter } from '../activity/read-activity-filter.ts'
import { createPlugin } from './create-plugin.ts'
import { deletePlugin } from './delete-plugin.ts'
import { catalog } from './install/catalog.ts'
import type { FreeObject, Plugin } from './plugin.ts'
import { getVisible, getWritable, requireCanRead, requireCanWrite } from './plugin-access.ts'
import { acceptanceToWire, blankPlugin, metricsToWire, patchFromWire, pluginToWire } from './plugin-resource.ts'
import { updatePlugin } from './update-plugin.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

/** Contract 4.4, except for installing, sources and releases. */
export function servePlugins(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.plugins

  serve(r.list, ({ organization, query, url }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const window = readWindow(query)
      const page = await tx.plugins.listVisible(organization.id, window)
      const measured = await measure(tx, page.items)
      const acceptances = await readAcceptances(tx, organization, page.items)
      return pageBody(page, window, url, plugin => ({
        ...pluginToWire(plugin, measured(plugin)),
        ...acceptances.get(plugin.id),
      }))
    })
  })

  serve(r.create, async request => {
    const { actor, organization } = request
    requireCanWrite(actor, organization)
    const patch = patchFromWire(request.body)
    return pluginToWire(await database.transaction(tx => createPlugin(tx, actor, organization, patch, now())))
  })

  serve(r.get, ({ organization, params }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const plugin = await getVisible(tx, organization, Number(params.id))
      const acceptances = await readAcceptances(tx, organization, [plugin])
      return { ...pluginToWire(plugin, (await measure(tx, [plugin]))(plugin)), ...acceptances.get(plugin.id) }
    })
  })

  serve(r.update, async request => {
    const plugin = await getWritable(database, request)
    const { actor, organization } = request
    const patch = patchFromWire(request.body)
    const update = database.transaction(tx => updatePlugin(tx, actor, organization, plugin.id, patch, now()))
    return pluginToWire(await update)
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    await database.transaction(tx => deletePlugin(tx, actor, organization, Number(params.id), now()))
    return answer({ status: 204 })
  })

  serve(r.activity, ({ organization, query, url }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const window = readActivityWindow(query)
      const filter = { organizationId: organization.id, ...(await readPluginFilter(tx, query.plugin)) }
      const page = await tx.activity.list({ ...filter, ...(await readActivityFilter(tx, query)) }, window)
      return { ...blankPlugin(organization), ...activityBody(page, window, url, activityToWire) }
    })
  })

  serve(r.repository, async ({ organization }) => {
    requireCanRead(organization)
    return { ...blankPlugin(organization), results: [...catalog] }
  })

  serve(r.unused, ({ organization }) => {
    requireCanRead(organization)
    return database.read(async tx => ({
      ...blankPlugin(organization),
      results: [...(await tx.plugins.listUnused(organization.id))],
    }))
  })

  /** The metrics of the last day; absent for a plugin that has not run. */
  async function measure(tx: Stores, plugins: readonly Plugin[]): Promise<(plugin: Plugin) => FreeObject> {
    const since = plusMilliseconds(now(), -dayMilliseconds)
    const totals = await tx.pluginMetrics.sumByPlugin(
      plugins.map(plugin => plugin.id),
      since,
    )
    return ({ id }) => {
      const total = totals.get(id)
      return total ? metricsToWire(total) : {}
    }
  }
}

/** By plugin id, for those of other organizations. */
async function readAcceptances(tx: Stores, organization: Organization, plugins: readonly Plugin[]) {
  const acceptances = new Map<number, ReturnType<typeof acceptanceToWire>>()
  for (const plugin of plugins) {
    if (plugin.organizationId === organization.id) continue
    acceptances.set(plugin.id, acceptanceToWire(plugin, await tx.pluginReleases.use(organization.id, plugin)))
  }
  return acceptances
}

/** With a plugin named, what happened to it and to its configurations; anything but an id names none. */
async function readPluginFilter(
  tx: Stores,
  plugin: string | undefined,
): Promise<Pick<ActivityFilter, 'scopes' | 'items'>> {
  const scopes = ['Plugin', 'PluginConfig'] as const
  if (plugin === undefined || !/^\d{1,15}$/.test(plugin)) return { scopes }
  const configIds = await tx.pluginConfigs.listIds(Number(plugin))
  const ofConfigs = configIds.map(id => ({ scope: 'PluginConfig', itemId: String(id) }) as const)
  return { scopes, items: [{ scope: 'Plugin', itemId: plugin }, ...ofConfigs] }
}
