import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { Author } from '../activity/activity.ts'
import type { Permit } from '../approvals/permit.ts'
import type { Flag } from '../flags/flag.ts'
import { updateFlag } from '../flags/update-flag.ts'

/**
 * Restores the content of an earlier version, as a new version. Raises `invalid` when the flag has no such version, or when its content
 * cannot be stored any more (a key taken, a cohort deleted).
 */
export async function restoreFlag(
  tx: Stores,
  author: Author,
  project: Project,
  { stored, version }: { readonly stored: Flag; readonly version: number },
  now: Instant,
  permit: Permit,
): Promise<Flag> {
  const earlier = await tx.flags.findVersion(stored.id, version)
  if (!earlier) throw invalid('version', 'does_not_exist', `The flag has no version ${version}.`)
  const update = { stored, patch: earlier.content, trigger: { restored_version: version } }
  return updateFlag(tx, author, project, update, now, permit)
}
