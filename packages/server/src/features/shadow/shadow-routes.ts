import type { IncomingHttpHeaders } from 'node:http'
import { routes } from '@halyard/contract'
import { countsByFlag } from '@halyard/migrate/shadow/shadow-counts'
import { credentialOf, type SdkAccess } from '../../api/sdk/sdk-access.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { Handler, ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import { dayOf } from '../events/usage/usage.ts'

interface Deps extends RouteDeps {
  readonly access: SdkAccess
  readonly onCompared: (counts: { agree: number; differ: number; failed: number }) => void
}

/** Shadow mode: applications evaluate with another service and with Halyard, and report how often both agree. */
export function serveShadow(serve: ServeRoute, { database, access, onCompared, now }: Deps): void {
  const authorize = (headers: IncomingHttpHeaders) => access.toDefinitions(credentialOf(headers), undefined)

  const report: Handler<typeof routes.shadow.report> = async ({ headers, body }) => {
    const { project, live } = await authorize(headers)
    const counts = countsByFlag(body.flags, new Map([...live].map(({ id, key }) => [key, id])))
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
