import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type Author, diffFields } from '../../activity/activity.ts'
import type { Flag } from '../flag.ts'
import { appendFlagActivity } from '../record-flag.ts'
import { checkSchema, type JsonSchema, payloadMismatch } from './payload-schema.ts'

/** The flag, and the filters that it will have when the transaction commits. The caller holds the references of the project. */
export async function setPayloadSchema(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  flag: Flag,
  schema: JsonSchema,
  now: Instant,
): Promise<void> {
  checkSchema(schema)
  const mismatch = payloadMismatch(schema, flag.filters)
  if (mismatch) throw invalid('schema', 'payload_mismatch', `A payload of the flag does not match: ${mismatch}`)
  await recordSchema(tx, author, project, flag, schema, now)
  await tx.payloadSchemas.save(project.id, flag.id, schema, now)
}

export async function removePayloadSchema(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  flag: Flag,
  now: Instant,
): Promise<void> {
  await recordSchema(tx, author, project, flag, null, now)
  await tx.payloadSchemas.remove(project.id, flag.id)
}

async function recordSchema(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  flag: Flag,
  schema: JsonSchema | null,
  now: Instant,
): Promise<void> {
  const before = (await tx.payloadSchemas.find(project.id, flag.id))?.schema ?? null
  const changes = diffFields({ payload_schema: before }, { payload_schema: schema })
  if (changes.length > 0) await appendFlagActivity(tx, author, project, flag, { activity: 'updated', changes }, now)
}
