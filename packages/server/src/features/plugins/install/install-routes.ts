import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { type ServeRoute, withProgress } from '../../../http/routes/serve-route.ts'
import { Problem } from '../../../problem.ts'
import type { OnStep } from '../package/install-step.ts'
import { parseAddress } from '../package/plugin-address.ts'
import type { Plugin } from '../plugin.ts'
import { getVisible, getWritable, requireCanRead, requireCanWrite } from '../plugin-access.ts'
import { pluginToWire } from '../plugin-resource.ts'
import { checkCanInstall, installPlugin } from './install-plugin.ts'
import type { PluginBuilder } from './plugin-builder.ts'
import { upgradeChanges, upgraded, upgradePlugin } from './upgrade-plugin.ts'

interface Deps extends RouteDeps {
  readonly pluginBuilder: PluginBuilder
}

/** Installing in one step, and upgrades. */
export function servePluginInstallation(serve: ServeRoute, { database, pluginBuilder, now }: Deps): void {
  const r = routes.plugins

  serve(r.install, async request => {
    const { actor, organization } = request
    requireCanWrite(actor, organization)
    const { url, token, address } = parseAddress(request.body.url)
    const asked = request.body.plugin_type === 'repository' ? 'repository' : 'custom'
    const pluginType = address.host === 'local' ? 'local' : asked
    const privateToken = token === undefined ? null : pluginBuilder.sealToken(token)
    const installation = { url, privateToken, pluginType, isGlobal: request.body.is_global ?? false } as const
    await database.read(tx => checkCanInstall(tx, actor, organization, installation))
    return withProgress(request.headers, async report => {
      const ready = await pluginBuilder.fetch(installation, undefined, report, request.signal)
      report('store')
      const install = database.transaction(tx => installPlugin(tx, actor, organization, installation, ready, now()))
      return pluginToWire(await install)
    })
  })

  serve(r.checkForUpdates, async ({ organization, params }) => {
    requireCanRead(organization)
    const plugin = await database.read(tx => getVisible(tx, organization, Number(params.id)))
    const latest = await tryFindLatest(plugin)
    if (latest.latestTag === undefined) return updateBody(plugin, latest.warning)
    const { latestTag } = latest
    await database.transaction(tx => tx.plugins.setLatestTag(plugin.id, latestTag))
    return updateBody({ ...plugin, latestTag })
  })

  serve(r.upgrade, async request => {
    const { actor, organization } = request
    const plugin = await getWritable(database, request)
    const { tag } = request.body
    return withProgress(request.headers, async report => {
      const ready = await fetchUpgrade(plugin, tag ?? undefined, request.signal, report)
      const latest = tag ? (await tryFindLatest(plugin)).latestTag : (ready.tag ?? undefined)
      report('store')
      const upgrade = database.transaction(tx =>
        upgradePlugin(tx, actor, organization, plugin.id, ready, latest, now()),
      )
      return updateBody(await upgrade)
    })
  })

  serve(r.previewUpgrade, async request => {
    const plugin = await getWritable(database, request)
    const ready = await fetchUpgrade(plugin, request.query.tag || undefined, request.signal, () => {})
    const files = await database.read(tx => tx.plugins.listFiles(plugin.id))
    const changes = upgradeChanges(plugin, upgraded(plugin, ready), files, ready)
    return { from: plugin.tag, to: ready.tag, changes: changes.map(change => ({ type: 'Plugin', ...change })) }
  })

  async function tryFindLatest(plugin: Plugin): Promise<{ latestTag?: string | undefined; warning?: string }> {
    if (plugin.pluginType === 'source') return {}
    try {
      return { latestTag: await pluginBuilder.findLatest(plugin) }
    } catch (error) {
      if (error instanceof Problem && error.kind === 'invalid') return { warning: error.message }
      throw error
    }
  }

  async function fetchUpgrade(plugin: Plugin, tag: string | undefined, signal: AbortSignal, onStep: OnStep) {
    if (plugin.pluginType !== 'source') return pluginBuilder.fetch(plugin, tag, onStep, signal)
    onStep('compile')
    return pluginBuilder.compile(plugin.name, await database.read(tx => tx.plugins.listFiles(plugin.id)))
  }
}

/** The same object twice: as the contract's shape, and under the key where PostHog has it. */
function updateBody(plugin: Plugin, warning?: string) {
  const wire = pluginToWire(plugin)
  const isKnown = warning === undefined && plugin.url !== null
  const isNewer = plugin.latestTag !== null && plugin.latestTag !== plugin.tag
  return {
    ...wire,
    plugin: wire,
    update_available: isKnown || plugin.pluginType === 'source' ? isNewer : null,
    ...(warning !== undefined && { warning }),
  }
}
