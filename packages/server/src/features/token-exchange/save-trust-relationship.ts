import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, memberLevel, type Organization } from '../../tenancy.ts'
import { type AuditRecord, recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { canonicalScopes, checkScopes } from '../identity/api-key.ts'
import { newUuid } from '../identity/secret.ts'
import { closeServiceAccount, createServiceAccount } from '../identity/service-account.ts'
import {
  checkRules,
  relationshipsPerOrganizationMax,
  type TrustPatch,
  type TrustRelationship,
} from './trust-relationship.ts'

export type TrustContent = Pick<
  TrustRelationship,
  'name' | 'issuer' | 'audience' | 'rules' | 'scopes' | 'projectIds' | 'ttlSeconds'
>

/**
 * With an account of its own. Who decides which tokens are exchanged can act through it, and therefore approves none of its changes.
 * Raises `invalid`.
 */
export async function createTrust(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  input: TrustContent,
  now: Instant,
): Promise<TrustRelationship> {
  const content = { ...input, scopes: canonicalScopes(input.scopes) }
  if ((await tx.trustRelationships.list(organization.id)).length >= relationshipsPerOrganizationMax) {
    throw invalid(
      null,
      'limit_reached',
      `An organization can have at most ${relationshipsPerOrganizationMax} trust relationships.`,
    )
  }
  await checkTrust(tx, actor, organization.id, content)
  const account = await createServiceAccount(
    tx,
    actor,
    { kind: 'trust_relationship', name: content.name, organizationId: organization.id, level: memberLevel },
    now,
  )
  const relationship: TrustRelationship = {
    ...content,
    id: newUuid(),
    organizationId: organization.id,
    userId: account.id,
    createdBy: actor.user,
    createdAt: now,
    updatedAt: now,
    lastUsedAt: null,
  }
  await tx.trustRelationships.create(relationship)
  record(tx, actor, relationship, { activity: 'created', after: shownFields(relationship) }, now)
  return relationship
}

/** Keys that were issued under the former content are revoked. */
export async function updateTrust(
  tx: Stores,
  actor: Actor,
  stored: TrustRelationship,
  patch: TrustPatch,
  now: Instant,
): Promise<TrustRelationship> {
  await tx.trustRelationships.update(stored.id, { ...patch, updatedAt: now })
  const saved = await getTrust(tx, stored.organizationId, stored.id)
  await checkTrust(tx, actor, stored.organizationId, saved)
  if (patch.name !== undefined) await tx.identity.updateAccount(stored.userId, { firstName: patch.name })
  await tx.trustRelationships.removeKeys(stored.id)
  await tx.accountTies.tie(stored.userId, actor.user.id, 'trust_relationship', now)
  await announceIdentity(tx, stored.userId, now)
  const fields = { before: shownFields(stored), after: shownFields(saved) }
  record(tx, actor, saved, { activity: 'updated', ...fields }, now)
  return saved
}

export async function removeTrust(tx: Stores, actor: Actor, stored: TrustRelationship, now: Instant): Promise<void> {
  await tx.trustRelationships.remove(stored.id)
  await closeServiceAccount(tx, stored.organizationId, stored.userId, now)
  record(tx, actor, stored, { activity: 'deleted', before: shownFields(stored) }, now)
}

/** Raises `missing`. */
export async function getTrust(tx: Stores, organizationId: string, id: string): Promise<TrustRelationship> {
  const relationship = await tx.trustRelationships.find(id)
  if (relationship?.organizationId !== organizationId) throw missing('Trust relationship')
  return relationship
}

async function checkTrust(tx: Stores, actor: Actor, organizationId: string, content: TrustContent): Promise<void> {
  checkRules(content)
  if (content.scopes.includes('*')) {
    throw invalid('scopes', 'invalid_input', '`scopes` cannot be "*" here. Name the scopes that the job needs.')
  }
  // With it, a key could create others, which this relationship does not revoke.
  if (content.scopes.some(scope => scope.startsWith('user:'))) {
    throw invalid(
      'scopes',
      'invalid_input',
      '`scopes` cannot have `user:read` or `user:write`: the keys belong to no person.',
    )
  }
  checkScopes(content.scopes, actor)
  for (const projectId of content.projectIds) {
    const project = await tx.projects.find(projectId)
    if (project?.organizationId !== organizationId) {
      throw invalid('projects', 'does_not_exist', `\`projects\` has a project that does not exist: ${projectId}.`)
    }
  }
}

const shownFields = ({ name, issuer, audience, rules, scopes, projectIds, ttlSeconds }: TrustRelationship) => ({
  name,
  issuer,
  audience,
  rules,
  scopes,
  projects: projectIds,
  ttl_seconds: ttlSeconds,
})

const record = (
  tx: Stores,
  actor: Actor,
  { id, organizationId, name }: TrustRelationship,
  fields: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): void => recordAudit(tx, actor, { organizationId }, { scope: 'TrustRelationship', itemId: id, name, ...fields }, now)
