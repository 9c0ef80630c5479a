import { isOver } from '../../domain/freeze.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Role } from './access.ts'

/** Raises `conflict` while a policy or freeze names the role: without it, other people could approve or would be held up. */
export async function removeRole(tx: Stores, role: Role, now: Instant): Promise<void> {
  await tx.roles.hold(role.id)
  const policies = await tx.policies.listNaming(role.organizationId, role.id)
  const freezes = (await tx.freezes.list(role.organizationId)).filter(
    freeze => freeze.exceptRoles.includes(role.id) && !isOver(freeze, now),
  )
  const names = [
    ...policies.map(({ id, actionKey, projectName }) => `policy ${id} (${actionKey}) of ${projectName}`),
    ...freezes.map(({ id, reason }) => `freeze ${id} (${reason})`),
  ]
  if (names.length > 0) {
    throw new Problem('conflict', `The role is named by ${listed(names)}. Change these first.`, { code: 'role_in_use' })
  }
  await tx.roles.remove(role.id)
}

const namesMax = 5
const listed = (names: readonly string[]): string =>
  names.slice(0, namesMax).join(', ') + (names.length > namesMax ? ` and ${names.length - namesMax} more` : '')
