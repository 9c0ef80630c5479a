import { routes, type ScimToken as ScimTokenWire } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import { type Actor, type Organization, ownerLevel, requireLevel } from '../../tenancy.ts'
import { readExpiry } from '../identity/create-key.ts'
import { userToWire } from '../identity/user-resource.ts'
import { createScimToken, removeScimToken } from './save-scim-token.ts'
import type { ScimToken } from './scim-token.ts'

/**
 * Serves the SCIM tokens of an organization. Only the owner changes them, as with identity providers: who can change the email address of
 * a member can sign in as that member.
 */
export function serveScimTokens(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.scimTokens

  serve(r.list, async ({ organization }) =>
    (await database.read(tx => tx.scimTokens.list(organization.id))).map(tokenToWire),
  )

  serve(r.create, async ({ actor, organization, body }) => {
    requireOwner(actor, organization)
    const input = { label: body.label, expiresAt: readExpiry(body.expires_at) ?? null }
    const { token, value } = await database.transaction(tx => createScimToken(tx, actor, organization, input, now()))
    return { ...tokenToWire(token), value }
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireOwner(actor, organization)
    await database.transaction(async tx => {
      const token = (await tx.scimTokens.list(organization.id)).find(({ id }) => id === params.token_id)
      if (!token) throw missing('SCIM token')
      await removeScimToken(tx, actor, token, now())
    })
    return answer({ status: 204 })
  })
}

const requireOwner = (actor: Actor, { id }: Organization) =>
  requireLevel(actor, id, ownerLevel, 'create or revoke SCIM tokens')

const tokenToWire = (token: ScimToken): ScimTokenWire => ({
  id: token.id,
  label: token.label,
  mask_value: token.mask,
  created_by: userToWire(token.createdBy),
  created_at: token.createdAt,
  last_used_at: token.lastUsedAt,
  expires_at: token.expiresAt,
})
