import type { Flag, FlagContent } from '../../domain/flag.ts'
import { type Freeze, type Frozen, freezeInForce } from '../../domain/freeze.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type DependentGain, isSwitchedOff } from './flag-change.ts'

/** The freeze that holds up the requester. Most organizations have none, and then this is one short read. */
export async function frozenBy(
  tx: Stores,
  { project, tags }: { readonly project: Project; readonly tags: readonly unknown[] },
  requesterId: () => Promise<number | undefined>,
  now: Instant,
): Promise<Frozen | undefined> {
  const freezes = await tx.freezes.list(project.organizationId)
  if (freezes.length === 0) return undefined
  const environmentSetId = await tx.environments.setOf(project.id)
  const target = { projectId: project.id, environmentSetId, tags }
  const frozen = freezeInForce(freezes, target, now)
  const exceptRoles = [...new Set(freezes.flatMap(freeze => freeze.exceptRoles))]
  if (!frozen || exceptRoles.length === 0) return frozen
  const userId = await requesterId()
  const held: Freeze[] = []
  for (const freeze of freezes) {
    if (!(await hasRole(tx, project, userId, freeze.exceptRoles))) held.push(freeze)
  }
  return freezeInForce(held, target, now)
}

/** Switching a flag off passes, unless flags that depend on it would release to more people during their freeze. */
export async function frozenFlag(
  tx: Stores,
  project: Project,
  {
    stored,
    flag,
    gaining,
  }: { readonly stored: Flag | undefined; readonly flag: FlagContent; readonly gaining: readonly DependentGain[] },
  requesterId: () => Promise<number | undefined>,
  now: Instant,
): Promise<Frozen | undefined> {
  const isOff = isSwitchedOff({ stored, flag })
  if (isOff && gaining.length === 0) return undefined
  const own = isOff ? [] : [...(stored?.tags ?? []), ...flag.tags]
  const target = { project, tags: [...own, ...gaining.flatMap(({ tags }) => tags)] }
  const frozen = await frozenBy(tx, target, requesterId, now)
  return isOff ? frozen?.releasing(gaining.map(({ key }) => key)) : frozen
}

export async function hasRole(
  tx: Stores,
  { organizationId }: Project,
  userId: number | undefined,
  roles: readonly string[],
): Promise<boolean> {
  if (userId === undefined || roles.length === 0) return false
  return (await tx.policies.eligible(organizationId, { users: [], roles })).has(userId)
}
