import { type Flag, routes } from '@halyard/contract'
import type { Call } from '../../api/client.ts'

/** What copying a flag did in one project. */
export interface CopyResult {
  readonly projectId: string
  /** Undefined when the flag was created. */
  readonly before: Flag | undefined
  readonly after: Flag
}

const represented = { prefer: 'return=representation' }

interface Copying {
  readonly organizationId: string
  readonly key: string
  readonly from: number
  readonly targets: readonly number[]
  readonly isOff: boolean
}

/** Copies a flag into all targets or none. `before` is what they had. */
export async function copyFlag(
  call: Call,
  { organizationId, key, from, targets, isOff }: Copying,
  before: ReadonlyMap<number, Flag | undefined>,
): Promise<readonly CopyResult[]> {
  const result: unknown = await call(routes.organizationFlags.copy, {
    params: { parent_lookup_organization_id: organizationId },
    body: {
      feature_flag_key: key,
      from_project: from,
      target_project_ids: [...targets],
      disable_copied_flag: isOff,
    },
    headers: represented,
  })
  const { success } = result as { success: readonly Flag[] }
  // The server copies in this order.
  const ordered = [...targets].sort((a, b) => a - b)
  return success.map((after, index) => {
    const id = ordered[index]!
    return { projectId: String(id), before: before.get(id), after }
  })
}

/** Restores what copying replaced and deletes what it created. Cohorts that were copied along stay. */
export async function undoCopies(call: Call, results: readonly CopyResult[]): Promise<void> {
  for (const { projectId, before, after } of results) {
    if (after.version === before?.version) continue
    const params = { project_id: projectId, id: String(after.id) }
    if (before) await call(routes.flagVersions.restore, { params, body: { version: before.version } })
    else await call(routes.flags.update, { params, body: { deleted: true } })
  }
}
