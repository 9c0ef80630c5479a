import { diffFields, type FieldChange } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Organization } from '../../../tenancy.ts'
import { applyPatch, contentOf, type Plugin } from '../plugin.ts'
import { getOwn, requireCanWrite } from '../plugin-access.ts'
import { contentToWire } from '../plugin-resource.ts'
import { recordPlugin } from '../record-plugin.ts'
import { subscribeIfCapabilityAdded } from '../runtime/delivery/flag-delivery.ts'
import { contentOfPackage } from './install-plugin.ts'
import type { ReadyPackage } from './plugin-builder.ts'
import { contentOfFiles, diffFiles } from './update-source.ts'

/**
 * Replaces the plugin's package by a built one. `latestTag` is the
 * newest known version; undefined leaves it unchanged. Raises `missing` and `forbidden`.
 */
export async function upgradePlugin(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  pluginId: number,
  ready: ReadyPackage,
  latestTag: string | undefined,
  now: Instant,
): Promise<Plugin> {
  requireCanWrite(actor, organization)
  const stored = await getOwn(tx, organization, pluginId)
  const plugin: Plugin = {
    ...upgraded(stored, ready),
    latestTag: latestTag ?? stored.latestTag,
    version: stored.version + 1,
    updatedAt: now,
  }
  const changes = upgradeChanges(stored, plugin, await tx.plugins.listFiles(plugin.id), ready)
  if (stored.pluginType === 'source' && changes.length === 0) return stored
  await tx.plugins.save(plugin)
  if (latestTag !== undefined) await tx.plugins.setLatestTag(plugin.id, latestTag)
  await subscribeIfCapabilityAdded(tx, stored, plugin, now)
  await tx.plugins.replaceFiles(plugin.id, ready.files, ready.code)
  await recordPlugin(tx, actor, plugin, { activity: 'upgraded', changes }, now)
  return plugin
}

/** The plugin with the fields of the package. */
export function upgraded(stored: Plugin, ready: ReadyPackage): Plugin {
  const content = stored.pluginType === 'source' ? contentOfFiles(ready, true) : contentOfPackage(ready)
  return {
    ...applyPatch(stored, content),
    tag: ready.tag ?? stored.tag,
    allowedHosts: ready.manifest.allowedHosts,
  }
}

/** The changes by field and file, for the activity and for previews. */
export const upgradeChanges = (
  before: Plugin,
  after: Plugin,
  files: ReadonlyMap<string, string>,
  ready: ReadyPackage,
): FieldChange[] => [
  ...diffFields({ ...contentToWire(contentOf(before)) }, { ...contentToWire(contentOf(after)) }),
  ...diffFiles(files, ready.files),
]
