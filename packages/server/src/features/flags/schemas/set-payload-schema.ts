import { type Author, diffFields } from '../../../domain/activity.ts'
import type { Flag, FlagContent } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { appendFlagActivity } from '../record-flag.ts'
import { checkSchema, type JsonSchema, payloadMismatch } from './payload-schema.ts'

/** Raises `invalid` for what is not a supported schema, and when a payload of the flag does not match it. */
export function checkPayloadSchema(
  schema: JsonSchema,
  { filters }: Pick<FlagContent, 'filters'>,
  field: 'schema' | 'payload_schema',
): void {
  try {
    checkSchema(schema)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw invalid(field, error.code ?? 'invalid_input', error.message)
  }
  const mismatch = payloadMismatch(schema, filters)
  if (mismatch) throw invalid(field, 'payload_mismatch', `A payload of the flag does not match: ${mismatch}`)
}

/** Null removes it. The caller has checked the schema and holds the references of the project. */
export async function savePayloadSchema(
  tx: Stores,
  author: Author,
  project: Project,
  flag: Flag,
  schema: JsonSchema | null,
  now: Instant,
): Promise<void> {
  const before = (await tx.payloadSchemas.find(project.id, flag.id))?.schema ?? null
  const changes = diffFields({ payload_schema: before }, { payload_schema: schema })
  if (changes.length > 0) await appendFlagActivity(tx, author, project, flag, { activity: 'updated', changes }, now)
  if (schema) await tx.payloadSchemas.save(project.id, flag.id, schema, now)
  else await tx.payloadSchemas.remove(project.id, flag.id)
}
