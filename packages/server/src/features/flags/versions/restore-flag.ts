import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import type { Author } from '../../activity/activity.ts'
import type { Permit } from '../../change-control/permit.ts'
import type { Flag } from '../flag.ts'
import type { JsonSchema } from '../schemas/payload-schema.ts'
import { removePayloadSchema, setPayloadSchema } from '../schemas/set-payload-schema.ts'
import { updateFlag } from '../update-flag.ts'

interface FlagRestore {
  readonly stored: Flag
  readonly version: number
  readonly payloadSchema: JsonSchema | null | undefined
}

/**
 * Restores the content of an earlier version, as a new version. Raises `invalid` when the flag has no such version, or when its content
 * cannot be stored any more (a key taken, a cohort deleted). `payloadSchema` replaces the schema in the same step, because neither the
 * old payloads need to match the present schema nor the present ones the old schema; null removes it.
 */
export async function restoreFlag(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { stored, version, payloadSchema }: FlagRestore,
  now: Instant,
  permit: Permit,
): Promise<Flag> {
  const earlier = await tx.flags.findVersion(stored.id, version)
  if (!earlier) throw invalid('version', 'does_not_exist', `The flag has no version ${version}.`)
  if (payloadSchema !== undefined) {
    await tx.projects.holdReferences(project.id)
    const restored = { ...stored, filters: earlier.content.filters }
    if (payloadSchema === null) await removePayloadSchema(tx, author, project, restored, now)
    else await setPayloadSchema(tx, author, project, restored, payloadSchema, now).catch(rethrowForField)
  }
  const update = { stored, patch: earlier.content, trigger: { restored_version: version } }
  return updateFlag(tx, author, project, update, now, permit)
}

/** A problem of the schema, named as this request names the field. */
function rethrowForField(error: unknown): never {
  if (!(error instanceof Problem) || error.field !== 'schema') throw error
  throw invalid('payload_schema', error.code ?? 'invalid_input', error.message)
}
