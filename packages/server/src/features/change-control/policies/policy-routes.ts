import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { adminLevel, requireLevel } from '../../../tenancy.ts'
import { policyToWire } from './policy-resource.ts'
import { createPolicy, getPolicy, removePolicy, updatePolicy } from './save-policy.ts'

/** Serves approval policies at PostHog's paths. */
export function servePolicies(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.approvalPolicies
  const toDoWhat = 'change approval policies'

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const filter = {
        ...(query.action_key && { actionKey: query.action_key }),
        ...((query.enabled === 'true' || query.enabled === 'false') && { enabled: query.enabled === 'true' }),
      }
      return pageBody(await tx.policies.list(project.id, filter, window), window, url, policyToWire)
    }),
  )

  serve(r.create, async ({ actor, project, body }) => {
    requireLevel(actor, project.organizationId, adminLevel, toDoWhat)
    return policyToWire(await database.transaction(tx => createPolicy(tx, actor, project, body, now())))
  })

  serve(r.get, ({ project, params }) =>
    database.read(async tx => policyToWire(await getPolicy(tx, project, Number(params.policy_id)))),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    requireLevel(actor, project.organizationId, adminLevel, toDoWhat)
    return database.transaction(async tx => {
      const policyId = (await getPolicy(tx, project, Number(params.policy_id))).id
      return policyToWire(await updatePolicy(tx, actor, project, { policyId, write: request.body }, now()))
    })
  })

  serve(r.remove, async ({ actor, project, params }) => {
    requireLevel(actor, project.organizationId, adminLevel, toDoWhat)
    await database.transaction(tx => removePolicy(tx, actor, project, Number(params.policy_id), now()))
    return answer({ status: 204 })
  })
}
