import { setTimeout as wait } from 'node:timers/promises'
import { type PluginWrite, routes } from '@halyard/contract'
import { retryDelay } from '../../../concurrency/retry-delay.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { Problem } from '../../../problem.ts'
import type { Actor, Organization } from '../../../tenancy.ts'
import { getOwn, getVisible, getWritable, requireCanRead, requireCanShare } from '../plugin-access.ts'
import { patchFromWire, pluginToWire } from '../plugin-resource.ts'
import type { PluginBuilder } from './plugin-builder.ts'
import { applyFileChanges, readFileChanges, updateSource } from './update-source.ts'

interface Deps extends RouteDeps {
  readonly pluginBuilder: PluginBuilder
}

interface SourceRequest {
  readonly actor: Actor
  readonly organization: Organization
  readonly body: PluginWrite
  readonly signal: AbortSignal
}

/** How often a source is compiled when other requests keep saving the plugin. */
const compilationsMax = 10

/** The source of plugins that are written in the dashboard. */
export function servePluginSource(serve: ServeRoute, { database, pluginBuilder, now }: Deps): void {
  const r = routes.plugins

  serve(r.source, ({ organization, params }) => {
    requireCanRead(organization)
    return database.read(async tx => {
      const plugin = await getVisible(tx, organization, Number(params.id))
      return { ...pluginToWire(plugin), source: Object.fromEntries(await tx.plugins.listFiles(plugin.id)) }
    })
  })

  serve(r.updateSource, async request => {
    await getWritable(database, request)
    return writeSource(request, Number(request.params.id))
  })

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
