import { type CopiedFlag, type FlagCopies, routes } from '@halyard/contract'
import type { Call } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'

interface Copying {
  readonly organizationId: string
  readonly key: string
  readonly from: number
  readonly targets: readonly number[]
  readonly isOff: boolean
}

/** Copies a flag into all targets or none. Returns what it did in each. */
export async function copyFlag(
  call: Call,
  { organizationId, key, from, targets, isOff }: Copying,
): Promise<readonly CopiedFlag[]> {
  const result: unknown = await call(routes.organizationFlags.copy, {
    params: { parent_lookup_organization_id: organizationId },
    body: {
      feature_flag_key: key,
      from_project: from,
      target_project_ids: [...targets],
      disable_copied_flag: isOff,
    },
    headers: { prefer: 'return=representation' },
  })
  return (result as FlagCopies).copies
}

/**
 * Restores what copying replaced and deletes what it created. Returns how many created cohorts stay, because something else
 * uses or has changed them by now.
 */
export async function undoCopies(call: Call, copies: readonly CopiedFlag[]): Promise<number> {
  // The last copy first: it may depend on earlier ones.
  const latestFirst = copies.toReversed()
  for (const copy of latestFirst) await undoFlag(call, copy)
  let staying = 0
  for (const { project_id, created_cohort_ids } of latestFirst) {
    for (const id of created_cohort_ids.toReversed()) {
      if (!(await removeCohort(call, { project_id: String(project_id), id: String(id) }))) staying += 1
    }
  }
  return staying
}

async function undoFlag(call: Call, copy: CopiedFlag): Promise<void> {
  const params = { project_id: String(copy.project_id), id: String(copy.flag_id) }
  const { replaced_version: version, replaced_payload_schema: schema } = copy
  if (version === null) await call(routes.flags.update, { params, body: { deleted: true } })
  else if (version !== copy.version || schema !== undefined) {
    await call(routes.flagVersions.restore, {
      params,
      body: { version, ...(schema !== undefined && { payload_schema: schema }) },
    })
  }
}

/** The version of a cohort that nothing has changed since it was created. */
const firstVersion = 1

/** Returns false when the cohort stays. */
async function removeCohort(call: Call, params: { project_id: string; id: string }): Promise<boolean> {
  const used = await call(routes.flagDetails.cohortUsedBy, { params })
  if (used.flags.length + used.cohorts.length + used.pending_schedules > 0) return false
  try {
    await call(routes.cohorts.update, { params, body: { deleted: true, version: firstVersion } })
    return true
  } catch (error) {
    // It was changed, or used since the question above.
    if (error instanceof ApiProblem && (error.status === 409 || error.code === 'cohort_in_use')) return false
    throw error
  }
}
