import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { newUuid } from '../identity/secret.ts'
import { type AccessLevel, flagResource, type Role } from './access.ts'

/** Without a level, that of the organization's settings. Raises `invalid` (`unique`) for a name that is taken. */
export async function createRole(
  tx: Stores,
  { user }: Pick<Actor, 'user'>,
  organization: Organization,
  { name, accessLevel }: { readonly name: string; readonly accessLevel?: AccessLevel | undefined },
  now: Instant,
): Promise<Role> {
  const setting = await tx.resourceAccess.findFor(organization.id, flagResource)
  const role: Role = {
    id: newUuid(),
    organizationId: organization.id,
    name,
    accessLevel: accessLevel ?? setting?.accessLevel ?? (organization.defaultAccessLevel as AccessLevel),
    createdBy: user,
    createdAt: now,
    memberEmails: [],
    flagKeys: [],
  }
  await tx.roles.create(role)
  return role
}
