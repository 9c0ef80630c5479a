import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { type Organization, ownerLevel } from '../../tenancy.ts'
import type { Account } from '../identity/account.ts'
import { createPersonAccount } from '../identity/create-account.ts'
import { domainOf } from '../single-sign-on/identity-provider.ts'
import { scimInvalid, scimTaken } from './scim-problem.ts'
import type { ScimUser, ScimUserContent } from './scim-user.ts'

/**
 * The account of a user to provision: the one with the same address, if it is a member, was provisioned here before, or both the address and
 * its domain are verified, the domain for this organization; else a new one. An account of others is never taken over. Raises `conflict`.
 */
export async function linkScimAccount(
  tx: Stores,
  organization: Organization,
  { email, name }: ScimUserContent,
  now: Instant,
): Promise<Account> {
  const { isTrusted, isForeign } = await domainTrust(tx, organization, email)
  const account = await tx.identity.findAccountByEmail(email)
  // Otherwise an organization could occupy the addresses of another one.
  if (isForeign && !account?.isActive) throw accountElsewhere()
  if (!account) return createPersonAccount(tx, organization.id, { email, name, isTrusted }, now)
  if (!account.isActive) return activateIdle(tx, account)
  // An account that someone else created with this address would become a member with their password.
  const isOwn =
    (isTrusted && account.isEmailVerified) ||
    (await tx.organizations.findMember(organization.id, account.uuid)) !== undefined ||
    (await tx.scimUsers.wasProvisioned(organization.id, account.id))
  if (!isOwn) throw accountElsewhere()
  return account
}

/** An account that an import created for the author of a change: no one has ever signed in to it. */
async function activateIdle(tx: Stores, account: Account): Promise<Account> {
  const isIdle = account.passwordHash === null && (await tx.identity.listOrganizationIds(account.id)).length === 0
  if (!isIdle) throw scimTaken('emails', 'The account with this email address is deactivated on this instance.')
  await tx.identity.updateAccount(account.id, { isActive: true })
  return { ...account, isActive: true }
}

/**
 * Gives the account the name and address of the provider. One that other organizations use keeps its own, unless this organization has
 * verified the domains of its address. Who controls the address controls the account, so a changed one ties it to the token.
 */
export async function applyContent(
  tx: Stores,
  tokenUserId: number,
  organization: Organization,
  { user, level }: ScimUser,
  { email, name }: ScimUserContent,
  now: Instant,
): Promise<void> {
  const account = await tx.identity.findAccount(user.id)
  if (!account) return
  const current = await domainTrust(tx, organization, account.email)
  const isElsewhere = await tx.scimUsers.isElsewhere(organization.id, user.id)
  const hasNewName = name !== '' && name !== account.firstName
  if (hasNewName && (current.isTrusted || !isElsewhere)) await tx.identity.updateAccount(user.id, { firstName: name })
  if (email === account.email) return
  const next = await domainTrust(tx, organization, email)
  const isAllowed = isElsewhere ? current.isTrusted && next.isTrusted : !next.isForeign
  if (!isAllowed || account.isStaff || level === ownerLevel) {
    throw scimInvalid(
      'mutability',
      'emails',
      '`emails` cannot change the address of an owner, an instance administrator or an account of other organizations.',
    )
  }
  const taken = await tx.identity.findAccountByEmail(email)
  if (taken) throw scimTaken('emails', '`emails` has the address of another account.')
  await tx.identity.updateAccount(user.id, { email, isEmailVerified: next.isTrusted })
  await tx.accountTies.tie(user.id, tokenUserId, 'provisioned', now)
}

async function domainTrust(tx: Stores, { id }: Organization, email: string) {
  const owners = await tx.identityProviders.listDomainOwners(domainOf(email))
  return { isTrusted: owners.includes(id), isForeign: owners.length > 0 && !owners.includes(id) }
}

const accountElsewhere = () =>
  scimTaken(
    'emails',
    'An account with this email address exists outside of the organization. Verify its domain and address, or invite it.',
  )
