import { routes, type ServiceKey as ServiceKeyWire } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import { memberLevel } from '../../tenancy.ts'
import { canonicalScopes, type ServiceKey } from '../identity/api-key.ts'
import { keyToWire } from '../identity/api-key-resource.ts'
import { defaultExpiry, readExpiry } from '../identity/create-key.ts'
import { userToWire } from '../identity/user-resource.ts'
import { createServiceKey, removeServiceKey } from './save-service-key.ts'

/** Keys of an organization, for machines. */
export function serveServiceKeys(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.serviceKeys

  serve(r.list, async ({ organization }) => {
    const keys = await database.read(tx => tx.identity.listServiceKeys(organization.id))
    return keys.map(serviceKeyToWire)
  })

  serve(r.create, async ({ actor, organization, body }) => {
    const expiresAt = readExpiry(body.expires_at)
    const input = {
      label: body.label,
      scopes: canonicalScopes(body.scopes),
      projectIds: body.scoped_teams ?? [],
      level: body.level ?? memberLevel,
      expiresAt: expiresAt === undefined ? defaultExpiry(actor, now()) : expiresAt,
    }
    const { key, value } = await database.transaction(tx => createServiceKey(tx, actor, organization, input, now()))
    return { ...serviceKeyToWire(key), value }
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    await database.transaction(async tx => {
      const key = (await tx.identity.listServiceKeys(organization.id)).find(({ id }) => id === params.key_id)
      if (!key) throw missing('Service key')
      await removeServiceKey(tx, actor, organization, key, now())
    })
    return answer({ status: 204 })
  })
}

function serviceKeyToWire(key: ServiceKey): ServiceKeyWire {
  const { user_id: _owner, scoped_organizations: _organizations, ...shared } = keyToWire(key)
  return { ...shared, level: key.level, user: userToWire(key.user), created_by: userToWire(key.createdBy) }
}
