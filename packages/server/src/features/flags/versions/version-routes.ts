import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, missing } from '../../../problem.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor, requireCanEdit } from '../../access/grants.ts'
import { flagToWire } from '../flag-resource.ts'
import { getFlag } from '../flag-routes.ts'
import type { FlagWrites } from '../flag-writes.ts'
import { planFlagRestore } from './restore-flag.ts'
import { versionToWire } from './version-resource.ts'

interface Deps extends RouteDeps {
  readonly writes: FlagWrites
}

/** Every earlier version of a flag: read, compared, restored. */
export function serveFlagVersions(serve: ServeRoute, { database, writes, now }: Deps): void {
  const r = routes.flagVersions

  serve(r.list, ({ project, params, query, url }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const window = readWindow(query)
      // One more than requested, so that the oldest on the page can be compared.
      const page = await tx.flags.listVersions(flag.id, { ...window, limit: window.limit + 1 })
      const shown = { count: page.count, items: page.items.slice(0, window.limit).map((item, n) => ({ item, n })) }
      return pageBody(shown, window, url, ({ item, n }) => versionToWire(flag, item, page.items[n + 1]))
    }),
  )

  serve(r.get, ({ project, params, query }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const version = await tx.flags.findVersion(flag.id, Number(params.version))
      if (!version) throw missing('Version')
      const other = query.compare_to === undefined ? version.version - 1 : readVersion(query.compare_to)
      const comparedTo = await tx.flags.findVersion(flag.id, other)
      if (!comparedTo && query.compare_to !== undefined) {
        throw invalid('compare_to', 'does_not_exist', `The flag has no version ${query.compare_to}.`)
      }
      return versionToWire(flag, version, comparedTo)
    }),
  )

  serve(r.restore, async request => {
    const { actor, project, params } = request
    return writes.saveFlag(
      request,
      async tx => {
        // An unknown flag is 404 and a forbidden one 403, whatever the body: its problems are raised after that.
        const stored = await getFlag(tx, project, params.id)
        await requireCanEdit(tx, actor, project, stored)
        const { version, payload_schema: payloadSchema } = request.body
        return planFlagRestore(tx, actor, project, { stored, version, payloadSchema }, now())
      },
      async (flag, tx) => flagToWire(flag, canEditFlag(await grantsFor(tx, actor, project), flag)),
    )
  })
}

const noVersion = 0
const readVersion = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : noVersion)
