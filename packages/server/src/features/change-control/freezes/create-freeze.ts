import { authorOf } from '../../../domain/activity.ts'
import type { Freeze } from '../../../domain/freeze.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Organization } from '../../../tenancy.ts'

const freezesPerOrganizationMax = 100

/** Raises `invalid` when the organization has too many. */
export async function createFreeze(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  freeze: Pick<Freeze, 'environmentSetId' | 'projectId' | 'tag' | 'when' | 'reason' | 'exceptRoles'>,
  now: Instant,
): Promise<Freeze> {
  if ((await tx.freezes.list(organization.id)).length >= freezesPerOrganizationMax) {
    throw invalid(null, 'limit_reached', `An organization can have at most ${freezesPerOrganizationMax} freezes.`)
  }
  const owned = { ...freeze, organizationId: organization.id, createdBy: actor.user, createdAt: now }
  const created = await tx.freezes.create(owned)
  await record(tx, actor, created, 'created', now)
  return created
}

/** False when there was none. */
export async function removeFreeze(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  freezeId: number,
  now: Instant,
): Promise<boolean> {
  const freeze = (await tx.freezes.list(organization.id)).find(({ id }) => id === freezeId)
  if (!freeze) return false
  await tx.freezes.remove(organization.id, freezeId)
  await record(tx, actor, freeze, 'deleted', now)
  return true
}

async function record(tx: Stores, actor: Actor, freeze: Freeze, activity: string, now: Instant): Promise<void> {
  await tx.activity.append({
    organizationId: freeze.organizationId,
    projectId: freeze.projectId,
    scope: 'Freeze',
    itemId: String(freeze.id),
    activity,
    ...authorOf(actor),
    detail: { name: freeze.reason, changes: [], trigger: { ...freeze.when } },
    createdAt: now,
  })
  await tx.changes.append({
    topic: 'change_request',
    organizationId: freeze.organizationId,
    projectId: freeze.projectId,
    entityId: `freeze ${freeze.id}`,
    at: now,
  })
}
