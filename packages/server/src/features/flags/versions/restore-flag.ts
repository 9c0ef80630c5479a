import type { Author } from '../../../domain/activity.ts'
import type { Flag } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type PlannedFlag, planFlagUpdate } from '../plan-flag.ts'
import type { JsonSchema } from '../schemas/payload-schema.ts'

interface FlagRestore {
  readonly stored: Flag
  readonly version: number
  readonly payloadSchema: JsonSchema | null | undefined
}

/**
 * Plans the content of an earlier version as a new version. Raises `invalid` when the flag has no such version, or when its content
 * cannot be stored any more (a key taken, a cohort deleted). `payloadSchema` replaces the schema in the same step, because neither the
 * old payloads need to match the present schema nor the present ones the old schema; null removes it.
 */
export async function planFlagRestore(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { stored, version, payloadSchema }: FlagRestore,
  now: Instant,
): Promise<PlannedFlag> {
  const earlier = await tx.flags.findVersion(stored.id, version)
  if (!earlier) throw invalid('version', 'does_not_exist', `The flag has no version ${version}.`)
  const update = { stored, patch: earlier.content, trigger: { restored_version: version }, payloadSchema }
  return planFlagUpdate(tx, author, project, update, now)
}
