import { diffFields } from '../../../../domain/activity.ts'
import type { FlagVersion } from '../../../../domain/flag.ts'
import type { Instant } from '../../../../instant.ts'
import type { Database, Stores } from '../../../../stores.ts'
import { contentToWire } from '../../../flags/flag-resource.ts'
import { offersMethod, type Plugin } from '../../plugin.ts'
import type { UndeliveredFlag } from '../plugin-work.ts'

const flagsAtOnceMax = 50
const versionsAtOnceMax = 20

/**
 * Turns committed flag changes into jobs for the configurations that subscribe to them. The cursor is moved in the same
 * transaction, so no change is lost when a node stops in between, and several nodes deliver it once. Returns whether
 * there was anything to deliver.
 */
export const enqueueFlagChanges = (database: Database, projectId: number, now: Instant): Promise<boolean> =>
  database.transaction(tx => deliverPending(tx, projectId, undefined, now))

/**
 * From now on a plugin of the project receives changes. Earlier ones are not for it, but those that wait for delivery
 * are for the other subscribers.
 */
export async function subscribe(tx: Stores, projectId: number, pluginId: number, now: Instant): Promise<void> {
  if ((await listeners(tx, projectId, pluginId)).length === 0) await tx.pluginFlagCursors.start(projectId)
  else while (await deliverPending(tx, projectId, pluginId, now)) {}
}

/** A plugin whose code newly exports `onFlagChange` is subscribed wherever it is enabled. */
export async function subscribeIfCapabilityAdded(
  tx: Stores,
  before: Plugin,
  after: Plugin,
  now: Instant,
  organizationId = after.organizationId,
): Promise<void> {
  if (offersMethod(before, 'onFlagChange') || !offersMethod(after, 'onFlagChange')) return
  for (const { config, organizationId: runsFor } of await tx.pluginConfigs.listEnabled()) {
    if (config.pluginId === after.id && runsFor === organizationId) await subscribe(tx, config.projectId, after.id, now)
  }
}

/** Subscribers are read from the database after the pending changes: this node may not have applied a subscription that precedes the change. */
async function deliverPending(
  tx: Stores,
  projectId: number,
  exceptPluginId: number | undefined,
  now: Instant,
): Promise<boolean> {
  const pending = await tx.pluginFlagCursors.listUndelivered(projectId, flagsAtOnceMax)
  if (pending.length === 0) return false
  const configIds = await listeners(tx, projectId, exceptPluginId)
  for (const flag of pending) {
    const version = Math.min(flag.version, flag.deliveredVersion + versionsAtOnceMax)
    await tx.pluginFlagCursors.markDelivered(flag, version)
    for (const payload of await describeChanges(tx, projectId, { ...flag, version })) {
      for (const configId of configIds) {
        await tx.pluginJobs.enqueue({ configId, kind: 'flag_change', name: 'onFlagChange', payload, runAt: now }, now)
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

async function describeChanges(tx: Stores, projectId: number, { flagId, deliveredVersion, version }: UndeliveredFlag) {
  let before = await tx.flags.findVersion(flagId, deliveredVersion)
  const changes: unknown[] = []
  for (let number = deliveredVersion + 1; number <= version; number += 1) {
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
