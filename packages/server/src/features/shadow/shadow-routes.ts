import type { IncomingHttpHeaders } from 'node:http'
import { routes, type ShadowReport } from '@halyard/contract'
import { credentialOf, type SdkAccess } from '../../api/sdk/sdk-access.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Handler, ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { missing } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import { dayOf } from '../events/usage/usage.ts'
import type { ShadowCount } from './shadow.ts'

interface Deps {
  readonly database: Database
  readonly access: SdkAccess
  readonly onCompared: (counts: { agree: number; differ: number; failed: number }) => void
  readonly now: () => Instant
}

/** Shadow mode: applications evaluate with another service and with Halyard, and report how often both agree. */
export function serveShadow(serve: ServeRoute, { database, access, onCompared, now }: Deps): void {
  const authorize = (headers: IncomingHttpHeaders) => access.toDefinitions(credentialOf(headers), undefined)

  const report: Handler<typeof routes.shadow.report> = async ({ headers, body }) => {
    const served = await authorize(headers)
    const { project } = served
    const counts = countsOf(served, body)
    const at = now()
    // Clients choose the ids: they are scoped to the project, so that none can mark another's report as received.
    const isNew = await database.transaction(async tx => {
      if (!(await tx.receivedBatches.add(`shadow/${project.uuid}/${body.batch_id}`, at))) return false
      await tx.shadow.add(project.id, dayOf(at), [...counts.values()], at)
      return true
    })
    if (isNew) for (const count of counts.values()) onCompared(count)
    return { counted: isNew }
  }
  serve(routes.shadow.report, report, authorize)

  serve(routes.shadow.get, ({ project, params }) =>
    database.read(async tx => {
      const flag = await tx.flags.find(project.id, Number(params.id))
      if (!flag) throw missing('Flag')
      const { agree, differ, failed, since, lastDifference } = await tx.shadow.totals(project.id, flag.id)
      return {
        agree,
        differ,
        failed,
        since,
        last_difference: lastDifference && {
          at: lastDifference.at,
          there: lastDifference.there,
          here: lastDifference.here,
          distinct_id: lastDifference.distinctId,
        },
      }
    }),
  )
}

/** By key, each flag once; flags that the project does not have are left out. */
function countsOf({ live }: ServedProject, { flags }: ShadowReport): ReadonlyMap<string, ShadowCount> {
  const ids = new Map([...live].map(({ id, key }) => [key, id]))
  const counts = new Map<string, ShadowCount>()
  for (const { key, agree, differ, failed = 0, example } of flags) {
    const flagId = ids.get(key)
    if (flagId === undefined) continue
    const known = counts.get(key)
    const shown = example && { there: example.there, here: example.here, distinctId: example.distinct_id }
    counts.set(key, {
      flagId,
      agree: agree + (known?.agree ?? 0),
      differ: differ + (known?.differ ?? 0),
      failed: failed + (known?.failed ?? 0),
      example: shown ?? known?.example ?? null,
    })
  }
  return counts
}
