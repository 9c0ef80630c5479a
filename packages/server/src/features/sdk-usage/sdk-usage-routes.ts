import { routes } from '@halyard/contract'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import type { Database } from '../../stores.ts'

export function serveSdkUsage(serve: ServeRoute, { database }: { readonly database: Database }): void {
  serve(routes.sdkUsage.list, async ({ project }) => {
    const sdks = await database.query(tx => tx.sdkUsage.list(project.id))
    return sdks.map(sdk => ({
      library: sdk.library,
      version: sdk.version,
      calls: sdk.calls,
      first_seen_at: sdk.firstSeenAt,
      last_seen_at: sdk.lastSeenAt,
    }))
  })
}
