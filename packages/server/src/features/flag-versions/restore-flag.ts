import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { Author } from '../activity/activity.ts'
import type { Flag } from '../flags/flag.ts'
import { updateFlag } from '../flags/update-flag.ts'

/**
 * Puts everything that a writer decides back to how it was, as a new version. Raises `invalid` when the flag never had the
 * version, or when what it held cannot be stored any more (a key taken, a cohort gone).
 */
export async function restoreFlag(
  tx: Stores,
  author: Author,
  project: Project,
  { flagId, version }: { readonly flagId: number; readonly version: number },
  now: Instant,
): Promise<Flag> {
  const earlier = await tx.flags.findVersion(flagId, version)
  if (!earlier) throw invalid('version', 'does_not_exist', `The flag has no version ${version}.`)
  const update = { flagId, patch: earlier.content, trigger: { restored_version: version } }
  return updateFlag(tx, author, project, update, now)
}
