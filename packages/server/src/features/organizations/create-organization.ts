import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { type Organization, ownerLevel, type Project } from '../../tenancy.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { newUuid } from '../identity/secret.ts'
import { createProject } from '../projects/create-project.ts'

/** Plugins may be installed, configured and made global: nothing is behind a licence. */
const pluginsAccessLevelOfNewOrganizations = 9
const slugCharactersMax = 48

/** An organization with its owner and a first project, which become the owner's current ones. */
export async function createOrganization(
  tx: Stores,
  ownerId: number,
  names: { readonly organization: string; readonly project: string },
  now: Instant,
): Promise<{ organization: Organization; project: Project }> {
  const organization: Organization = {
    id: newUuid(),
    name: names.organization,
    slug: await freeSlug(tx, names.organization),
    pluginsAccessLevel: pluginsAccessLevelOfNewOrganizations,
    createdAt: now,
    updatedAt: now,
  }
  await tx.organizations.create(organization)
  await tx.organizations.addMember({
    id: newUuid(),
    organizationId: organization.id,
    userId: ownerId,
    level: ownerLevel,
    joinedAt: now,
    updatedAt: now,
  })
  const project = await createProject(tx, { organizationId: organization.id, name: names.project }, now)
  await tx.identity.updateAccount(ownerId, { currentOrganizationId: organization.id, currentProjectId: project.id })
  await announceIdentity(tx, ownerId, now)
  return { organization, project }
}

async function freeSlug(tx: Stores, name: string): Promise<string> {
  const plain =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, slugCharactersMax - 10) || 'organization'
  if (!(await tx.organizations.isSlugTaken(plain))) return plain
  return `${plain}-${newUuid().slice(-8)}`
}
