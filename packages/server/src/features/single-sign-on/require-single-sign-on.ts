import type { Instant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, type Organization, ownerLevel, type User } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'

/**
 * For a password that was right: raises `forbidden` (`sso_required`) when every organization of the account requires single sign-on. The
 * owner of one can always sign in, with a second factor, so that an outage of the provider locks no organization out. With some
 * organizations left, the session opens and reaches only these (`findActor`).
 */
export async function requirePasswordAllowed(tx: Stores, user: Pick<User, 'id'>): Promise<void> {
  const memberships = await tx.organizations.listMemberships(user.id)
  const isAllowed = memberships.length === 0 || memberships.some(allowsPassword)
  if (isAllowed) return
  throw new Problem('forbidden', 'Your organization requires single sign-on. Sign in with your identity provider.', {
    code: 'sso_required',
  })
}

const allowsPassword = (membership: { readonly level: number; readonly requiresSingleSignOn: boolean }): boolean =>
  !membership.requiresSingleSignOn || membership.level === ownerLevel

/**
 * Sessions lose or regain the organization at once on all nodes. The actor is the owner, who can sign in with a password and a second factor
 * whatever happens to the provider. Raises `invalid` without an enabled provider or that factor.
 */
export async function setRequirement(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  isRequired: boolean,
  now: Instant,
): Promise<void> {
  const before = await tx.organizations.requiresSingleSignOn(organization.id)
  if (before === isRequired) return
  const providers = await tx.identityProviders.list(organization.id)
  if (isRequired && !providers.some(({ enabled, lastSignInAt }) => enabled && lastSignInAt !== null)) {
    throw invalid(
      'is_required',
      'invalid_input',
      '`is_required` needs an enabled provider with which someone has signed in.',
    )
  }
  if (isRequired && (await tx.secondFactors.list(actor.user.id)).length === 0) {
    throw invalid(
      'is_required',
      'invalid_input',
      '`is_required` needs a second factor of the owner, who signs in when the provider is down. Add one first.',
    )
  }
  await tx.organizations.setRequiresSingleSignOn(organization.id, isRequired)
  await announceIdentity(tx, actor.user.id, now, organization.id)
  const { id, name } = organization
  const fields = { before: { requires_single_sign_on: before }, after: { requires_single_sign_on: isRequired } }
  const record = { scope: 'Organization', itemId: id, name, activity: 'updated', ...fields } as const
  recordAudit(tx, actor, { organizationId: id }, record, now)
}
