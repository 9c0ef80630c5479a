import { isDeepStrictEqual } from 'node:util'
import { checkFlag } from '@halyard/engine'
import { type Flag, type FlagContent, hasPayloads } from '../../domain/flag.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import { gatherReferences } from '../../evaluation/subjects/gather-references.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type JsonSchema, payloadMismatch } from './schemas/payload-schema.ts'

export const filtersBytesMax = 4 * 1024 * 1024

/**
 * Raises `invalid` for what cannot be evaluated or does not exist: the engine checks the flag with what it refers to. A payload schema that
 * arrives with the flag is checked by the caller, in place of the stored one.
 */
export async function checkFlagContent(
  tx: Stores,
  project: Project,
  flag: FlagContent & Pick<Flag, 'id' | 'version'>,
  stored?: FlagContent,
  payloadSchema?: JsonSchema | null,
): Promise<void> {
  checkKey(flag.key)
  // One that was deleted since must not block another change.
  const added = flag.analyticsDashboards.filter(id => !stored?.analyticsDashboards.includes(id))
  await checkDashboards(tx, project.id, added)
  if (stored && leavesServingUnchanged(stored, flag)) return
  if (JSON.stringify(flag.filters).length > filtersBytesMax) {
    throw invalid('filters', 'max_length', `\`filters\` must have at most ${filtersBytesMax} bytes as JSON.`)
  }
  const [issue] = checkFlag(
    flagDefinition(flag),
    {
      ...(await gatherReferences(tx, project.id, [flag.filters])),
      groupTypes: project.groupTypes,
      propertyMatchingVersion: project.propertyMatchingVersion,
    },
    { regex: linearRegex },
  )
  if (issue) throw invalid('filters', issue.code, `${issue.path}: ${issue.message}`)
  if (stored && payloadSchema === undefined && hasPayloads(flag.filters)) await checkPayloads(tx, project, flag)
}

async function checkPayloads(tx: Stores, project: Project, { id, filters }: Pick<Flag, 'id' | 'filters'>) {
  const declared = await tx.payloadSchemas.find(project.id, id)
  const mismatch = declared && payloadMismatch(declared.schema, filters)
  if (mismatch) throw invalid('filters', 'payload_mismatch', `${mismatch} The flag has a payload schema.`)
}

/** What is served stays as it is, or is disabled. It was checked when it was written; disabling a flag must always be possible. */
function leavesServingUnchanged(stored: FlagContent, flag: FlagContent): boolean {
  const isComing = (flag.active && !stored.active) || (!flag.deleted && stored.deleted)
  return !isComing && servedFields.every(field => isDeepStrictEqual(stored[field], flag[field]))
}

const servedFields = ['key', 'filters', 'ensureExperienceContinuity', 'bucketingIdentifier'] as const

function checkKey(key: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(key)) {
    throw invalid('key', 'invalid_input', '`key` must not contain control characters.')
  }
}

async function checkDashboards(tx: Stores, projectId: number, ids: readonly number[]): Promise<void> {
  const existing = await tx.dashboards.existing(projectId, ids)
  const unknown = ids.find(id => !existing.has(id))
  if (unknown !== undefined) {
    throw invalid('analytics_dashboards', 'does_not_exist', `There is no dashboard ${unknown} in this project.`)
  }
}
