import { diffFields } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { addressFor } from './create-plugin.ts'
import { applyPatch, contentOf, type Plugin, type PluginPatch } from './plugin.ts'
import { getOwn, requireCanShare, requireCanWrite } from './plugin-access.ts'
import { contentToWire } from './plugin-resource.ts'
import { recordPlugin } from './record-plugin.ts'
import { subscribeIfCapabilityAdded } from './runtime/delivery/flag-delivery.ts'

/** Raises `missing` and `forbidden`. A patch that changes nothing writes nothing. */
export async function updatePlugin(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  pluginId: number,
  patch: PluginPatch,
  now: Instant,
): Promise<Plugin> {
  requireCanWrite(actor, organization)
  const stored = await getOwn(tx, organization, pluginId)
  if (patch.isGlobal !== undefined) requireCanShare(organization)
  const content = applyPatch(contentOf(stored), patch)
  const changes = diffFields({ ...contentToWire(contentOf(stored)) }, { ...contentToWire(content) })
  if (changes.length === 0) return stored
  const url = content.pluginType === stored.pluginType ? stored.url : addressFor(content)
  const plugin: Plugin = { ...stored, ...content, url, version: stored.version + 1, updatedAt: now }
  await tx.plugins.save(plugin)
  await subscribeIfCapabilityAdded(tx, stored, plugin, now)
  await recordPlugin(tx, actor, plugin, { activity: 'updated', changes }, now)
  return plugin
}
