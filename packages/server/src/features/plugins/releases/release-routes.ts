import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { acceptanceToWire, pluginToWire } from '../plugin-resource.ts'
import { acceptRelease } from './accept-release.ts'
import { findReleaseChanges } from './release-changes.ts'

/** Releases of plugins of other organizations, which are used once they are accepted. */
export function servePluginReleases(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.plugins

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
}
