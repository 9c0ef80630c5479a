import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Account } from '../identity/account.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { createPersonAccount } from '../identity/create-account.ts'
import { checkedEmail } from '../identity/email.ts'
import { newUuid } from '../identity/secret.ts'
import { domainOf, type IdentityProvider } from './identity-provider.ts'
import type { ProviderIdentity } from './provider-client.ts'

/**
 * The account that an identity signs in to: the one that is linked to the subject, else the member with the same address of a verified
 * domain, verified on both sides, else a new one. An account outside of the organization is never taken over: it joins by an invitation.
 * Raises `unauthenticated`.
 */
export async function linkAccount(
  tx: Stores,
  provider: IdentityProvider,
  identity: ProviderIdentity,
  now: Instant,
): Promise<Account> {
  const linkedId = await tx.identityProviders.findLinkedUser(provider.id, identity.subject)
  if (linkedId !== undefined) {
    const account = await tx.identity.findAccount(linkedId)
    if (!account?.isActive) throw refused('This account is deactivated. Ask an admin of the organization.')
    await requireMember(tx, provider, account, now)
    return account
  }
  const email = addressOf(identity)
  const owners = await tx.identityProviders.listDomainOwners(domainOf(email))
  const isTrusted = identity.isEmailVerified && owners.includes(provider.organizationId)
  const sameAddress = await tx.identity.findAccountByEmail(email)
  const account = sameAddress
    ? await claimAccount(tx, provider, sameAddress, isTrusted, now)
    : await createAccount(tx, provider, { email, name: identity.name, isTrusted, owners }, now)
  await tx.identityProviders.link(provider.id, identity.subject, account.id, now)
  await tieToEditor(tx, provider, account, sameAddress ? provider.updatedAt : now)
  return account
}

/** Who chose the issuer decides who can sign in: to a new account, and to a member's for as long as the choice is recent. */
async function tieToEditor(tx: Stores, { id }: IdentityProvider, account: Account, at: Instant): Promise<void> {
  const editor = await tx.identityProviders.findEditor(id)
  if (editor !== undefined) await tx.accountTies.tie(account.id, editor, 'provisioned', at)
}

function addressOf({ email }: ProviderIdentity): string {
  if (email === undefined) throw refused('The provider sent no email address. Ask the owner to request `email`.')
  try {
    return checkedEmail(email, 'email').toLowerCase()
  } catch {
    throw refused('The provider sent an email address that is not valid.')
  }
}

async function claimAccount(
  tx: Stores,
  provider: IdentityProvider,
  account: Account,
  isTrusted: boolean,
  now: Instant,
): Promise<Account> {
  const isClaimable = isTrusted && account.isActive && !(await tx.identityProviders.isLinked(provider.id, account.id))
  if (!isClaimable) throw accountElsewhere()
  // An account that was created with the address of a colleague would stay open to its creator's password.
  if (!account.isEmailVerified) {
    throw refused(
      'The email address of your account is not verified. Reset its password by email, or ask an administrator.',
      'sso_address_unverified',
    )
  }
  await requireMember(tx, provider, account, now)
  return account
}

/** A member, or invited: being removed from the organization is not undone by the next sign-in. */
async function requireMember(tx: Stores, provider: IdentityProvider, account: Account, now: Instant): Promise<void> {
  const { organizationId } = provider
  if (await tx.organizations.findMember(organizationId, account.uuid)) return
  const invite = await tx.organizations.findOpenInvite(organizationId, account.email, now)
  if (!invite) throw accountElsewhere()
  const { level } = invite
  const membership = { id: newUuid(), organizationId, userId: account.id, level, joinedAt: now, updatedAt: now }
  await tx.organizations.addMember(membership)
  await tx.accountTies.tie(account.id, invite.createdBy.id, 'invited', now)
  await tx.organizations.removeInvite(invite.id)
  await announceIdentity(tx, account.id, now, organizationId)
}

async function createAccount(
  tx: Stores,
  provider: IdentityProvider,
  person: {
    readonly email: string
    readonly name: string
    readonly isTrusted: boolean
    readonly owners: readonly string[]
  },
  now: Instant,
): Promise<Account> {
  const { organizationId } = provider
  // Otherwise a provider could occupy the addresses of another organization.
  if (person.owners.length > 0 && !person.owners.includes(organizationId)) throw accountElsewhere()
  const account = await createPersonAccount(tx, organizationId, person, now)
  await tx.organizations.addMember({
    id: newUuid(),
    organizationId,
    userId: account.id,
    level: provider.defaultLevel,
    joinedAt: now,
    updatedAt: now,
  })
  await announceIdentity(tx, account.id, now, organizationId)
  return account
}

export const refused = (message: string, code = 'sso_refused'): Problem =>
  new Problem('unauthenticated', message, { code })

const accountElsewhere = (): Problem =>
  refused(
    'An account with this email address cannot be linked. Ask an admin for an invitation, or sign in with its password.',
    'sso_account_elsewhere',
  )
