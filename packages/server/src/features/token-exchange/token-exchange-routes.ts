import { routes, type TrustRelationship as TrustWire } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid } from '../../problem.ts'
import { type Actor, adminLevel, type Organization, requireLevel } from '../../tenancy.ts'
import { userToWire } from '../identity/user-resource.ts'
import type { Issuers } from '../single-sign-on/issuers.ts'
import { exchangeToken } from './exchange-token.ts'
import { createTrust, getTrust, removeTrust, updateTrust } from './save-trust-relationship.ts'
import { type TrustRelationship, ttlSecondsDefault } from './trust-relationship.ts'

interface Deps extends RouteDeps {
  readonly issuers: Issuers
}

const formBytesMax = 64 * 1024
const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const tokenTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']

/** Serves trust relationships and the exchange of tokens. */
export function serveTokenExchange(serve: ServeRoute, { database, issuers, now }: Deps): void {
  const r = routes.trustRelationships

  serve(r.list, async ({ actor, organization }) => {
    requireAdmin(actor, organization)
    return (await database.read(tx => tx.trustRelationships.list(organization.id))).map(trustToWire)
  })

  serve(r.create, async ({ actor, organization, body }) => {
    requireAdmin(actor, organization)
    issuers.check(body.issuer)
    const { projects = [], ttl_seconds: ttlSeconds = ttlSecondsDefault, ...content } = body
    const trust = { ...content, projectIds: [...new Set(projects)], ttlSeconds }
    return trustToWire(await database.transaction(tx => createTrust(tx, actor, organization, trust, now())))
  })

  serve(r.get, ({ actor, organization, params }) => {
    requireAdmin(actor, organization)
    return database.read(async tx => trustToWire(await getTrust(tx, organization.id, params.relationship_id)))
  })

  serve(r.update, async ({ actor, organization, params, body }) => {
    requireAdmin(actor, organization)
    const saved = await database.transaction(async tx => {
      const stored = await getTrust(tx, organization.id, params.relationship_id)
      const { projects, ttl_seconds: ttlSeconds, ...content } = body
      if (content.issuer !== undefined) issuers.check(content.issuer)
      const patch = { ...content, projectIds: projects && [...new Set(projects)], ttlSeconds }
      return updateTrust(tx, actor, stored, patch, now())
    })
    return trustToWire(saved)
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireAdmin(actor, organization)
    await database.transaction(async tx =>
      removeTrust(tx, actor, await getTrust(tx, organization.id, params.relationship_id), now()),
    )
    return answer({ status: 204 })
  })

  serve(routes.tokenExchange.exchange, async ({ raw, headers, origin }) => {
    const { audience, token } = readExchange(raw, headers['content-type'])
    const key = await exchangeToken({ database, issuers, now }, audience, token, origin)
    const body = {
      access_token: key.value,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: key.expiresInSeconds,
      scope: key.scopes.join(' '),
    }
    return answer({ status: 200, body, headers: { 'cache-control': 'no-store' } })
  })
}

/** Raises `invalid` with an error code of OAuth 2.0. */
function readExchange(raw: Buffer | undefined, contentType: string | undefined) {
  if (!raw || raw.length > formBytesMax || !/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '')) {
    throw invalid(null, 'invalid_request', 'Send a form: Content-Type application/x-www-form-urlencoded.')
  }
  const form = new URLSearchParams(raw.toString('utf8'))
  const read = (field: string): string => {
    const [value, second] = form.getAll(field)
    if (!value || second !== undefined) throw invalid(field, 'invalid_request', `Send \`${field}\` exactly once.`)
    return value
  }
  if (read('grant_type') !== grantType) {
    throw invalid('grant_type', 'unsupported_grant_type', `\`grant_type\` must be ${grantType}.`)
  }
  if (!tokenTypes.includes(read('subject_token_type'))) {
    throw invalid('subject_token_type', 'invalid_request', `\`subject_token_type\` must be ${tokenTypes[0]}.`)
  }
  return { audience: read('audience'), token: read('subject_token') }
}

const requireAdmin = (actor: Actor, { id }: Organization) =>
  requireLevel(actor, id, adminLevel, 'manage trust relationships')

const trustToWire = (trust: TrustRelationship): TrustWire => ({
  id: trust.id,
  name: trust.name,
  issuer: trust.issuer,
  audience: trust.audience,
  rules: trust.rules.map(rule => ({ ...rule })),
  scopes: [...trust.scopes],
  projects: [...trust.projectIds],
  ttl_seconds: trust.ttlSeconds,
  created_by: userToWire(trust.createdBy),
  created_at: trust.createdAt,
  updated_at: trust.updatedAt,
  last_used_at: trust.lastUsedAt,
})
