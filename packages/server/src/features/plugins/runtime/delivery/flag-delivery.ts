import type { Instant } from '../../../../instant.ts'
import type { Database, Stores } from '../../../../stores.ts'
import { diffFields } from '../../../activity/activity.ts'
import { contentToWire } from '../../../flags/flag-resource.ts'
import type { FlagVersion } from '../../../flags/flag-store.ts'
import { offersMethod, type Plugin } from '../../plugin.ts'
import type { UntoldFlag } from '../plugin-work-store.ts'

const flagsAtOnceMax = 50
const versionsAtOnceMax = 20

/**
 * Mutex committed flag changes into jobs for the configurations that want to hear of them. What was told is kept with
 * the jobs in one transaction, so no change is lost when a node stops in between, and several nodes tell it once.
 * Returns whether there was anything to tell.
 */
export const enqueueFlagChanges = (database: Database, projectId: number, now: Instant): Promise<boolean> =>
  database.transaction(tx => tellUntold(tx, projectId, undefined, now))

/**
 * From now on a plugin of the project hears of changes; what happened before is not for it, but what the others have not been told yet is
 * for them.
 */
export async function subscribe(tx: Stores, projectId: number, pluginId: number, now: Instant): Promise<void> {
  if ((await listeners(tx, projectId, pluginId)).length === 0) await tx.pluginWork.startFlagCursors(projectId)
  else while (await tellUntold(tx, projectId, pluginId, now)) {}
}

/** A plugin whose code has just learnt to listen begins to hear wherever it is enabled. */
export async function subscribeIfCapabilityAdded(
  tx: Stores,
  before: Plugin,
  after: Plugin,
  now: Instant,
): Promise<void> {
  if (offersMethod(before, 'onFlagChange') || !offersMethod(after, 'onFlagChange')) return
  for (const { config } of await tx.pluginConfigs.listEnabled()) {
    if (config.pluginId === after.id) await subscribe(tx, config.projectId, after.id, now)
  }
}

/** Who listens is asked of the database, after what there is to tell: this node may not have heard of somebody who was there before the change. */
async function tellUntold(
  tx: Stores,
  projectId: number,
  exceptPluginId: number | undefined,
  now: Instant,
): Promise<boolean> {
  const untold = await tx.pluginWork.listUntold(projectId, flagsAtOnceMax)
  if (untold.length === 0) return false
  const configIds = await listeners(tx, projectId, exceptPluginId)
  for (const flag of untold) {
    const version = Math.min(flag.version, flag.toldVersion + versionsAtOnceMax)
    await tx.pluginWork.markTold(flag, version)
    for (const payload of await describeChanges(tx, projectId, { ...flag, version })) {
      for (const configId of configIds) {
        await tx.pluginWork.enqueue({ configId, kind: 'flag_change', name: 'onFlagChange', payload, runAt: now }, now)
      }
    }
  }
  return true
}

async function listeners(tx: Stores, projectId: number, exceptPluginId: number | undefined): Promise<number[]> {
  const enabled = await tx.pluginConfigs.listEnabled(projectId)
  return enabled
    .filter(({ plugin }) => plugin.id !== exceptPluginId && offersMethod(plugin, 'onFlagChange'))
    .map(({ config }) => config.id)
}

async function describeChanges(tx: Stores, projectId: number, { flagId, toldVersion, version }: UntoldFlag) {
  let before = await tx.flags.findVersion(flagId, toldVersion)
  const changes: unknown[] = []
  for (let number = toldVersion + 1; number <= version; number += 1) {
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
