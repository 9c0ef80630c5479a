import { setTimeout as wait } from 'node:timers/promises'
import { type PluginWrite, routes } from '@halyard/contract'
import { retryDelay } from '../../concurrency/retry-delay.ts'
import type { ActivityFilter } from '../../domain/activity.ts'
import { activityBody, pageBody, readActivityWindow, readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute, withProgress } from '../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { activityToWire } from '../activity/activity-resource.ts'
import { readActivityFilter } from '../activity/read-activity-filter.ts'
import { createPlugin } from './create-plugin.ts'
import { deletePlugin } from './delete-plugin.ts'
import { catalog } from './install/catalog.ts'
import { checkCanInstall, installPlugin } from './install/install-plugin.ts'
import type { PluginBuilder } from './install/plugin-builder.ts'
import { applyFileChanges, readFileChanges, updateSource } from './install/update-source.ts'
import { upgradeChanges, upgraded, upgradePlugin } from './install/upgrade-plugin.ts'
import type { OnStep } from './package/install-step.ts'
import { parseAddress } from './package/plugin-address.ts'
import type { FreeObject, Plugin } from './plugin.ts'
import { getOwn, getVisible, requireCanRead, requireCanShare, requireCanWrite } from './plugin-access.ts'
import { acceptanceToWire, blankPlugin, metricsToWire, patchFromWire, pluginToWire } from './plugin-resource.ts'
import { acceptRelease } from './releases/accept-release.ts'
import { findReleaseChanges } from './releases/release-changes.ts'
import { updatePlugin } from './update-plugin.ts'

interface Deps {
  readonly database: Database
  readonly pluginBuilder: PluginBuilder
  readonly now: () => Instant
}

/** How often a source is compiled when other requests keep saving the plugin. */
const compilationsMax = 10

const dayMilliseconds = 24 * 60 * 60 * 1000

/** Contract 4.4, and installing in one step. */
export function servePlugins(serve: ServeRoute, { database, pluginBuilder, now }: Deps): void {
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

  serve(r.get, ({ organization, params }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const plugin = await getVisible(tx, organization, Number(params.id))
      const acceptances = await readAcceptances(tx, organization, [plugin])
      return { ...pluginToWire(plugin, (await measure(tx, [plugin]))(plugin)), ...acceptances.get(plugin.id) }
    })
  })

  serve(r.update, async request => {
    const plugin = await getWritable(request)
    const { actor, organization } = request
    const patch = patchFromWire(request.body)
    const update = database.transaction(tx => updatePlugin(tx, actor, organization, plugin.id, patch, now()))
    return pluginToWire(await update)
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    await database.transaction(tx => deletePlugin(tx, actor, organization, Number(params.id), now()))
    return answer({ status: 204 })
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

  serve(r.source, ({ organization, params }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const plugin = await getVisible(tx, organization, Number(params.id))
      return { ...pluginToWire(plugin), source: Object.fromEntries(await tx.plugins.listFiles(plugin.id)) }
    })
  })

  serve(r.updateSource, async request => {
    await getWritable(request)
    return writeSource(request, Number(request.params.id))
  })

  serve(r.upgrade, async request => {
    const { actor, organization } = request
    const plugin = await getWritable(request)
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

  serve(r.accept, async request => {
    const { actor, organization, params } = request
    const seen = request.body.release
    return database.transaction(async tx => {
      const plugin = await acceptRelease(tx, actor, organization, Number(params.id), seen, now())
      return {
        ...pluginToWire(plugin),
        ...acceptanceToWire(plugin, await tx.pluginReleases.use(organization.id, plugin)),
      }
    })
  })

  serve(r.releaseChanges, async ({ organization, params }) => {
    const comparison = await database.read(tx => findReleaseChanges(tx, organization, Number(params.id)))
    return {
      release: comparison.release,
      accepted_release: comparison.acceptedRelease,
      changes: comparison.changes.map(change => ({ type: 'Plugin', ...change })),
      source_known: comparison.isSourceKnown,
    }
  })

  serve(r.previewUpgrade, async request => {
    const plugin = await getWritable(request)
    const ready = await fetchUpgrade(plugin, request.query.tag || undefined, request.signal, () => {})
    const files = await database.read(tx => tx.plugins.listFiles(plugin.id))
    const changes = upgradeChanges(plugin, upgraded(plugin, ready), files, ready)
    return { from: plugin.tag, to: ready.tag, changes: changes.map(change => ({ type: 'Plugin', ...change })) }
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

  interface SourceRequest {
    readonly actor: Actor
    readonly organization: Organization
    readonly body: PluginWrite
    readonly signal: AbortSignal
  }

  interface Writing {
    readonly actor: Actor
    readonly organization: Organization
    readonly params: { readonly id: string }
  }

  /** Looked up before the body is read: an unknown plugin is 404 and a forbidden one 403, whatever is sent. */
  function getWritable({ actor, organization, params }: Writing): Promise<Plugin> {
    requireCanWrite(actor, organization)
    return database.read(tx => getOwn(tx, organization, Number(params.id)))
  }

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

  /** Compiles outside the transaction; when another request saved in the meantime, compiles again on top of it. */
  async function writeSource({ actor, organization, body, signal }: SourceRequest, pluginId: number) {
    const [changes, patch] = [readFileChanges(body as Record<string, unknown>), patchFromWire(body)]
    if (patch.isGlobal !== undefined) requireCanShare(organization)
    for (let attempt = 1; attempt <= compilationsMax; attempt++) {
      if (attempt > 1)
        await wait(retryDelay(attempt - 1, { first: 20, max: 500 }), undefined, { signal }).catch(() => {})
      requireConnected(signal)
      const [seen, before] = await database.read(async tx => [
        await getOwn(tx, organization, pluginId),
        await tx.plugins.listFiles(pluginId),
      ])
      const ready = await pluginBuilder.compile(seen.name, applyFileChanges(before, changes))
      requireConnected(signal)
      const update = { pluginId, seen, before, ready, patch }
      const plugin = await database.transaction(tx => updateSource(tx, actor, organization, update, now()))
      if (plugin) return { ...pluginToWire(plugin), source: Object.fromEntries(ready.files) }
    }
    throw new Problem(
      'conflict',
      'The plugin kept changing while its source was compiled; nothing was changed. Try again.',
    )
  }
}

/** Raises `unavailable` when no client waits for the response any more. */
function requireConnected(signal: AbortSignal): void {
  if (signal.aborted) throw new Problem('unavailable', 'The client has closed the connection; nothing was changed.')
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
