import { type JWTPayload, jwtVerify } from 'jose'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { hashSecret, maskSecret, newId, newSecret } from '../identity/secret.ts'
import { type Issuers, isOutage, reasonOf } from '../single-sign-on/issuers.ts'
import { clockToleranceSeconds, isIdentifier, signatureAlgorithms } from '../single-sign-on/provider-client.ts'
import { brokenRule, type TrustRelationship } from './trust-relationship.ts'

interface Deps {
  readonly database: Database
  readonly issuers: Issuers
  readonly now: () => Instant
}

export interface ExchangedKey {
  readonly value: string
  readonly scopes: readonly string[]
  readonly expiresInSeconds: number
}

const tokenAgeMax = '24h'
const liveKeysMax = 1000
const subjectCharactersMax = 200

/** A key for a token that the relationship trusts. Raises `invalid` with an error code of RFC 8693, or `unavailable`. */
export async function exchangeToken(
  { database, issuers, now }: Deps,
  relationshipId: string,
  token: string,
  origin: Origin,
): Promise<ExchangedKey> {
  const relationship = await database.read(tx => tx.trustRelationships.find(relationshipId))
  if (!relationship) throw invalid('audience', 'invalid_target', '`audience` must be the id of a trust relationship.')
  const claims = await verify(issuers, relationship, token)
  const { sub } = claims
  if (!isIdentifier(sub)) throw refused('The claim `sub` must be a text of at most 255 characters.')
  const broken = brokenRule(relationship.rules, claims)
  if (broken) throw refused(`The claim \`${broken.claim}\` does not match the trust relationship.`)
  return database.transaction(async tx => {
    // Read again: a relationship that was removed or changed meanwhile issues nothing.
    const current = await tx.trustRelationships.find(relationship.id)
    if (current?.updatedAt !== relationship.updatedAt) throw refused('The trust relationship has changed. Try again.')
    return issueKey(tx, relationship, sub, origin, now())
  })
}

async function verify(issuers: Issuers, { issuer, audience }: TrustRelationship, token: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, await issuers.keysOf(issuer), {
      issuer,
      audience,
      algorithms: signatureAlgorithms,
      clockTolerance: clockToleranceSeconds,
      maxTokenAge: tokenAgeMax,
      requiredClaims: ['sub', 'exp', 'iat'],
    })
    return payload
  } catch (error) {
    if (isOutage(error)) {
      throw new Problem('unavailable', 'The issuer of the token is not available. Try again later.', {
        code: 'temporarily_unavailable',
        retryAfterSeconds: 10,
        cause: error,
      })
    }
    throw refused(`\`subject_token\` was refused: ${reasonOf(error).slice(0, 150)}`)
  }
}

async function issueKey(
  tx: Stores,
  relationship: TrustRelationship,
  subject: string,
  origin: Origin,
  now: Instant,
): Promise<ExchangedKey> {
  const { id, organizationId, userId, scopes, ttlSeconds } = relationship
  await tx.identity.removeKeysExpiredBefore(now)
  if ((await tx.trustRelationships.countKeys(id, now)) >= liveKeysMax) {
    throw new Problem('throttled', `The trust relationship has ${liveKeysMax} live keys. Wait until some expire.`, {
      code: 'temporarily_unavailable',
      retryAfterSeconds: 60,
    })
  }
  const projectIds = await existingProjects(tx, relationship)
  const value = newSecret('phx_')
  const label = `Exchanged: ${subject.slice(0, subjectCharactersMax)}`
  await tx.identity.createKey({
    id: newId(),
    userId,
    label,
    hash: hashSecret(value),
    mask: maskSecret(value),
    scopes,
    projectIds,
    organizationIds: projectIds.length === 0 ? [organizationId] : [],
    isSession: false,
    trustRelationshipId: id,
    createdAt: now,
    lastUsedAt: null,
    expiresAt: plusMilliseconds(now, ttlSeconds * 1000),
  })
  await tx.trustRelationships.update(id, { lastUsedAt: now })
  await announceIdentity(tx, userId, now)
  const account = await tx.identity.findAccount(userId)
  const author = account ? { user: account, key: { label }, origin } : null
  const record = {
    scope: 'TrustRelationship',
    itemId: id,
    name: relationship.name,
    activity: 'token_exchanged',
  } as const
  recordAudit(tx, author, { organizationId }, { ...record, reason: label }, now)
  return { value, scopes, expiresInSeconds: ttlSeconds }
}

/** A relationship for projects that were all deleted must not become one for every project. */
async function existingProjects(tx: Stores, { projectIds }: TrustRelationship): Promise<readonly number[]> {
  const existing: number[] = []
  for (const projectId of projectIds) if (await tx.projects.find(projectId)) existing.push(projectId)
  if (existing.length === 0 && projectIds.length > 0) {
    throw invalid('audience', 'invalid_target', 'The projects of the trust relationship no longer exist.')
  }
  return existing
}

const refused = (message: string): Problem => invalid('subject_token', 'invalid_request', message)
