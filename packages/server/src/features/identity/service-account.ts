import type { lastingKinds } from '../../domain/account-tie.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Level } from '../../tenancy.ts'
import type { Account } from './account.ts'
import { announceIdentity } from './announce-identity.ts'
import { newUuid } from './secret.ts'

interface NewServiceAccount {
  readonly kind: (typeof lastingKinds)[number]
  readonly name: string
  readonly organizationId: string
  readonly projectId?: number | undefined
  readonly level: Level
}

/**
 * The account of a key or token, which is no person: what it changes is attributed to it, it outlives the membership of its creator and
 * never signs in. It is tied to its creator, who therefore approves none of its changes.
 */
export async function createServiceAccount(
  tx: Stores,
  actor: Actor,
  { kind, name, organizationId, projectId, level }: NewServiceAccount,
  now: Instant,
): Promise<Account> {
  const uuid = newUuid()
  const account = await tx.identity.createAccount({
    uuid,
    distinctId: uuid,
    firstName: name,
    email: `${uuid}@${kind.replace('_', '-')}.invalid`,
    isEmailVerified: false,
    passwordHash: null,
    isActive: true,
    isStaff: false,
    isService: true,
    currentOrganizationId: organizationId,
    currentProjectId: projectId ?? null,
    dateJoined: now,
  })
  const membership = { id: newUuid(), organizationId, userId: account.id }
  await tx.organizations.addMember({ ...membership, level, joinedAt: now, updatedAt: now })
  await tx.accountTies.tie(account.id, actor.user.id, kind, now)
  await announceIdentity(tx, account.id, now, organizationId)
  return account
}

/** It stays as the author of what it changed. */
export async function closeServiceAccount(
  tx: Stores,
  organizationId: string,
  userId: number,
  now: Instant,
): Promise<void> {
  await tx.organizations.removeMember(organizationId, userId)
  await tx.identity.updateAccount(userId, { isActive: false })
  await announceIdentity(tx, userId, now, organizationId)
}
