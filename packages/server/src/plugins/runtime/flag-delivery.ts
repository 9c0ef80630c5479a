import { diffFields } from '../../activity/activity.ts'
import { contentToWire } from '../../flags/flag-resource.ts'
import type { FlagVersion } from '../../flags/flag-store.ts'
import type { Instant } from '../../instant.ts'
import type { Database, Stores } from '../../stores.ts'
import type { UntoldFlag } from './plugin-work-store.ts'

const flagsAtOnceMax = 50
const versionsAtOnceMax = 100

/**
 * Turns committed flag changes into jobs for the configurations that want to hear of them. What was told is kept with
 * the jobs in one transaction, so no change is lost when a node stops in between, and several nodes tell it once.
 * Returns whether there was anything to tell.
 */
export async function enqueueFlagChanges(
  database: Database,
  projectId: number,
  configIds: readonly number[],
  now: Instant,
): Promise<boolean> {
  return database.transaction(async tx => {
    const untold = await tx.pluginWork.listUntold(projectId, flagsAtOnceMax)
    for (const flag of untold) {
      await tx.pluginWork.markTold(flag)
      for (const payload of await describeChanges(tx, projectId, flag)) {
        for (const configId of configIds) {
          await tx.pluginWork.enqueue({ configId, kind: 'flag_change', name: 'onFlagChange', payload, runAt: now }, now)
        }
      }
    }
    return untold.length > 0
  })
}

async function describeChanges(tx: Stores, projectId: number, { flagId, toldVersion, version }: UntoldFlag) {
  const first = Math.max(toldVersion + 1, version - versionsAtOnceMax + 1)
  let before = await tx.flags.findVersion(flagId, first - 1)
  const changes: unknown[] = []
  for (let number = first; number <= version; number += 1) {
    const after = await tx.flags.findVersion(flagId, number)
    if (!after) continue
    changes.push(describeChange(projectId, before, after))
    before = after
  }
  return changes
}

function describeChange(projectId: number, before: FlagVersion | undefined, after: FlagVersion) {
  const [old, next] = [before && contentToWire(before.content), contentToWire(after.content)]
  return {
    project_id: projectId,
    flag_id: after.flagId,
    key: next.key,
    version: after.version,
    action: !old
      ? 'created'
      : next.deleted && !old.deleted
        ? 'deleted'
        : !next.deleted && old.deleted
          ? 'restored'
          : 'updated',
    before: old ?? null,
    after: next,
    changes: old
      ? diffFields({ ...old }, { ...next }).map(({ field, before: was, after: is }) => ({
          field,
          before: was,
          after: is,
        }))
      : [],
    user: after.user ? { email: after.user.email, first_name: after.user.firstName } : null,
    at: after.createdAt,
  }
}
