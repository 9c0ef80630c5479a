import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Account } from './account.ts'
import { newUuid } from './secret.ts'

const firstNameCharactersMax = 150

/** The account of a person that a provider vouches for: without a password, and not yet a member of the organization. */
export async function createPersonAccount(
  tx: Stores,
  organizationId: string,
  { email, name, isTrusted }: { readonly email: string; readonly name: string; readonly isTrusted: boolean },
  now: Instant,
): Promise<Account> {
  const [project] = (await tx.projects.list({ organizationIds: [organizationId] }, { limit: 1, offset: 0 })).items
  return tx.identity.createAccount({
    uuid: newUuid(),
    distinctId: newUuid(),
    firstName: name.slice(0, firstNameCharactersMax),
    email,
    isEmailVerified: isTrusted,
    passwordHash: null,
    isActive: true,
    isStaff: false,
    currentOrganizationId: organizationId,
    currentProjectId: project?.id ?? null,
    dateJoined: now,
  })
}
