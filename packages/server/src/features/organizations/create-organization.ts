import type { Author } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { type Organization, ownerLevel, type Project } from '../../tenancy.ts'
import { editAccess } from '../access/access.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { newUuid } from '../identity/secret.ts'
import { installLevel } from '../plugins/plugin-access.ts'
import { createProject } from '../projects/create-project.ts'

const slugCharactersMax = 48

/** An organization with its owner and a first project, which become the owner's current ones. */
export async function createOrganization(
  tx: Stores,
  author: NonNullable<Author>,
  input: {
    readonly organization: string
    readonly project: string
    readonly pluginsAccessLevel?: number
  },
  now: Instant,
): Promise<{ organization: Organization; project: Project }> {
  const organization: Organization = {
    id: newUuid(),
    name: input.organization,
    slug: await freeSlug(tx, input.organization),
    pluginsAccessLevel: input.pluginsAccessLevel ?? installLevel,
    defaultAccessLevel: editAccess,
    requiresSecondFactor: false,
    createdAt: now,
    updatedAt: now,
  }
  await tx.organizations.create(organization)
  await tx.organizations.addMember({
    id: newUuid(),
    organizationId: organization.id,
    userId: author.user.id,
    level: ownerLevel,
    joinedAt: now,
    updatedAt: now,
  })
  const project = await createProject(tx, author, { organizationId: organization.id, name: input.project }, now)
  await tx.identity.updateAccount(author.user.id, {
    currentOrganizationId: organization.id,
    currentProjectId: project.id,
  })
  await announceIdentity(tx, author.user.id, now)
  const record = {
    scope: 'Organization',
    itemId: organization.id,
    name: organization.name,
    activity: 'created',
  } as const
  recordAudit(tx, author, { organizationId: organization.id }, { ...record, after: { name: organization.name } }, now)
  return { organization, project }
}

async function freeSlug(tx: Stores, name: string): Promise<string> {
  const base =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, slugCharactersMax - 10) || 'organization'
  if (!(await tx.organizations.isSlugTaken(base))) return base
  return `${base}-${newUuid().slice(-8)}`
}
