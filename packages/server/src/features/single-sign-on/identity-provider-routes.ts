import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { forbidden } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import {
  type Actor,
  adminLevel,
  type Level,
  memberLevel,
  type Organization,
  ownerLevel,
  requireLevel,
} from '../../tenancy.ts'
import { clientSecretPurpose } from './identity-provider.ts'
import { domainToWire, mappingsFromWire, providerToWire } from './identity-provider-resource.ts'
import type { Issuers } from './issuers.ts'
import type { ProviderClient } from './provider-client.ts'
import { setRequirement } from './require-single-sign-on.ts'
import { addDomain, getDomain, markVerified, type ReadTextRecords, removeDomain, requireRecord } from './save-domain.ts'
import { createProvider, getProvider, removeProvider, updateProvider } from './save-provider.ts'

export interface IdentityProviderDeps extends RouteDeps {
  readonly secretBox: SecretBox
  readonly issuers: Issuers
  readonly client: ProviderClient
  readonly readTextRecords: ReadTextRecords
  /** The address that users open. */
  readonly originOf: (url: URL) => string
}

/**
 * Serves the identity providers and domains of an organization. Only the owner changes them: who controls a provider can sign in as any
 * member, and so satisfy every approval alone.
 */
export function serveIdentityProviders(serve: ServeRoute, deps: IdentityProviderDeps): void {
  const { database, secretBox, issuers, client, originOf, now } = deps
  const r = routes.identityProviders

  serve(r.list, async ({ actor, organization, url }) => {
    requireAdmin(actor, organization)
    const providers = await database.read(tx => tx.identityProviders.list(organization.id))
    return providers.map(provider => providerToWire(provider, originOf(url)))
  })

  serve(r.create, async ({ actor, organization, body, url }) => {
    requireOwner(actor, organization)
    issuers.check(body.issuer)
    const content = {
      name: body.name,
      issuer: body.issuer,
      clientId: body.client_id,
      clientSecret: sealed(body.client_secret) ?? null,
      scopes: body.scopes ?? ['openid', 'email', 'profile'],
      groupClaim: body.group_claim ?? 'groups',
      groupMappings: mappingsFromWire(body.group_mappings ?? []),
      defaultLevel: (body.default_level ?? memberLevel) as Level,
      sessionHours: body.session_hours ?? 12,
      enabled: body.enabled ?? true,
    }
    const provider = await database.transaction(tx => createProvider(tx, actor, organization, content, now()))
    return providerToWire(provider, originOf(url))
  })

  serve(r.get, async ({ actor, organization, params, url }) => {
    requireAdmin(actor, organization)
    const provider = await database.read(tx => getProvider(tx, organization.id, params.provider_id))
    return providerToWire(provider, originOf(url))
  })

  serve(r.update, async ({ actor, organization, params, body, url }) => {
    requireOwner(actor, organization)
    const provider = await database.transaction(async tx => {
      const stored = await getProvider(tx, organization.id, params.provider_id)
      if (body.issuer !== undefined) issuers.check(body.issuer)
      const patch = {
        name: body.name,
        issuer: body.issuer,
        clientId: body.client_id,
        clientSecret: sealed(body.client_secret),
        scopes: body.scopes,
        groupClaim: body.group_claim,
        groupMappings: body.group_mappings && mappingsFromWire(body.group_mappings),
        defaultLevel: body.default_level as Level | undefined,
        sessionHours: body.session_hours,
        enabled: body.enabled,
      }
      return updateProvider(tx, actor, stored, patch, now())
    })
    return providerToWire(provider, originOf(url))
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireOwner(actor, organization)
    await database.transaction(async tx =>
      removeProvider(tx, actor, await getProvider(tx, organization.id, params.provider_id), now()),
    )
    return answer({ status: 204 })
  })

  serve(r.test, async ({ actor, organization, params }) => {
    requireAdmin(actor, organization)
    const provider = await database.read(tx => getProvider(tx, organization.id, params.provider_id))
    const { isUsable, problems } = await client.check(provider)
    return { is_usable: isUsable, problems: [...problems] }
  })

  serve(r.getRequirement, async ({ organization }) => ({
    is_required: await database.read(tx => tx.organizations.requiresSingleSignOn(organization.id)),
  }))

  serve(r.updateRequirement, async ({ actor, organization, body }) => {
    requireOwner(actor, organization)
    await database.transaction(tx => setRequirement(tx, actor, organization, body.is_required, now()))
    return { is_required: body.is_required }
  })

  serveDomains(serve, deps)

  /** An empty secret removes the stored one. */
  function sealed(secret: string | undefined): string | null | undefined {
    if (secret === undefined) return undefined
    return secret === '' ? null : secretBox.seal(secret, clientSecretPurpose)
  }
}

function serveDomains(serve: ServeRoute, { database, readTextRecords, now }: IdentityProviderDeps): void {
  const r = routes.identityProviders

  serve(r.listDomains, async ({ actor, organization }) => {
    requireAdmin(actor, organization)
    return (await database.read(tx => tx.identityProviders.listDomains(organization.id))).map(domainToWire)
  })

  serve(r.addDomain, async ({ actor, organization, body }) => {
    requireOwner(actor, organization)
    return domainToWire(await database.transaction(tx => addDomain(tx, actor, organization, body.domain, now())))
  })

  serve(r.verifyDomain, async ({ actor, organization, params, body }) => {
    requireOwner(actor, organization)
    const domain = await database.read(tx => getDomain(tx, organization, params.domain_id))
    if (body.without_record === true) {
      if (!actor.isStaff) throw forbidden('Only instance administrators can verify a domain without its record.')
    } else {
      await requireRecord(domain, readTextRecords)
    }
    return domainToWire(await database.transaction(tx => markVerified(tx, actor, domain, now())))
  })

  serve(r.removeDomain, async ({ actor, organization, params }) => {
    requireOwner(actor, organization)
    await database.transaction(async tx =>
      removeDomain(tx, actor, await getDomain(tx, organization, params.domain_id), now()),
    )
    return answer({ status: 204 })
  })
}

const requireAdmin = (actor: Actor, { id }: Organization) =>
  requireLevel(actor, id, adminLevel, 'see its identity providers')
const requireOwner = (actor: Actor, { id }: Organization) =>
  requireLevel(actor, id, ownerLevel, 'change how its members sign in')
