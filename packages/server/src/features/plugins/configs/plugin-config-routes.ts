import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, missing } from '../../../problem.ts'
import type { SecretBox } from '../../../storage/secret-box.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import type { Plugin } from '../plugin.ts'
import { acceptFirstRelease } from '../releases/accept-release.ts'
import type { PluginMetricsTotal } from '../runtime/plugin-work.ts'
import { getConfig, getUsed, requireCanConfigure, requireProjectCanRead } from './config-access.ts'
import { sumLastDay } from './config-work-routes.ts'
import type { PluginConfig } from './plugin-config.ts'
import { type ConfigView, configToWire, inputFromWire } from './plugin-config-resource.ts'
import { saveConfig } from './save-config.ts'

interface Deps extends RouteDeps {
  readonly secretBox: SecretBox
}

/** Plugins as projects use them. */
export function servePluginConfigs(serve: ServeRoute, { database, secretBox, now }: Deps): void {
  const r = routes.pluginConfigs

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      await requireProjectCanRead(tx, project)
      const window = readWindow(query)
      const page = await tx.pluginConfigs.list(project.id, window)
      const views = await viewsOf(tx, project, page.items)
      return pageBody({ count: page.count, items: views }, window, url, view => configToWire(view, false))
    }),
  )

  serve(r.create, async request => {
    const { actor, project } = request
    await requireCanConfigure(database, actor, project)
    const { plugin: pluginId, ...body } = request.body
    const input = inputFromWire(body)
    // The response is built inside the transaction: nothing may fail after the commit.
    return database.transaction(async tx => {
      const plugin = await findPlugin(tx, project, pluginId)
      await acceptFirstRelease(tx, actor, project.organizationId, plugin, now())
      const used = await tx.pluginReleases.use(project.organizationId, plugin)
      const config = await saveConfig(tx, actor, project, used.plugin, input, secretBox, now())
      return configToWire(await viewOf(tx, project, config), false)
    })
  })

  serve(r.rearrange, async request => {
    const { actor, project } = request
    await requireCanConfigure(database, actor, project)
    // In ascending order, so that two requests cannot deadlock.
    const orders = Object.entries(request.body.orders).sort(([a], [b]) => Number(a) - Number(b))
    return database.transaction(async tx => {
      const changed: PluginConfig[] = []
      for (const [pluginId, position] of orders) {
        const config = await tx.pluginConfigs.findByPlugin(
          project.id,
          /^\d{1,15}$/.test(pluginId) ? Number(pluginId) : -1,
        )
        if (!config)
          throw invalid('orders', 'does_not_exist', `The project has no configuration of plugin ${pluginId}.`)
        const plugin = await getUsed(tx, project, config)
        changed.push(await saveConfig(tx, actor, project, plugin, { position }, secretBox, now()))
      }
      const views = await viewsOf(tx, project, changed)
      return views.map(view => configToWire(view, false))
    })
  })

  serve(r.get, ({ project, params }) =>
    database.read(async tx => configToWire(await viewOf(tx, project, await getConfig(tx, project, params.id)), true)),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    await requireCanConfigure(database, actor, project)
    await database.read(tx => getConfig(tx, project, params.id))
    const input = inputFromWire(request.body)
    return change(actor, project, params.id, input)
  })

  serve(r.remove, async ({ actor, project, params }) => {
    await requireCanConfigure(database, actor, project)
    await change(actor, project, params.id, { enabled: false })
    return answer({ status: 204 })
  })

  function change(actor: Actor, project: Project, id: string, input: Parameters<typeof saveConfig>[4]) {
    return database.transaction(async tx => {
      const config = await getConfig(tx, project, id)
      const owned = (await tx.plugins.find(config.pluginId))!
      if (input.enabled) await acceptFirstRelease(tx, actor, project.organizationId, owned, now())
      const plugin = await getUsed(tx, project, config)
      const saved = await saveConfig(tx, actor, project, plugin, input, secretBox, now())
      return configToWire(await viewOf(tx, project, saved), false)
    })
  }

  async function viewsOf(tx: Stores, project: Project, configs: readonly PluginConfig[]): Promise<ConfigView[]> {
    const attachments = await tx.pluginConfigs.listAttachments(configs.map(config => config.id))
    const metrics = await sumLastDay(tx, configs, now())
    const views: ConfigView[] = []
    for (const config of configs) {
      const installed = await tx.plugins.find(config.pluginId)
      if (!installed) continue
      const { plugin, updateAvailable } = await tx.pluginReleases.use(project.organizationId, installed)
      const deliveryRate = rateOf(metrics.get(config.id))
      const shown = attachments.get(config.id) ?? []
      views.push({ config, plugin, updateAvailable, attachments: shown, deliveryRate })
    }
    return views
  }

  async function viewOf(tx: Stores, project: Project, config: PluginConfig): Promise<ConfigView> {
    const [view] = await viewsOf(tx, project, [config])
    if (!view) throw missing('Plugin configuration')
    return view
  }
}

const rateOf = (totals: PluginMetricsTotal | undefined): number | null =>
  totals && totals.calls > 0 ? (totals.calls - totals.failures) / totals.calls : null

/** The plugin must be one that the organization can see. */
async function findPlugin(tx: Stores, project: Project, pluginId: number): Promise<Plugin> {
  const organization = await tx.organizations.find(project.organizationId)
  if (!organization) throw missing('Project')
  const plugin = await tx.plugins.findVisible(organization.id, pluginId)
  if (!plugin) throw invalid('plugin', 'does_not_exist', `This project has no access to a plugin with id ${pluginId}.`)
  return plugin
}
