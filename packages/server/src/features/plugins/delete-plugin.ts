import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { getOwn, requireCanWrite } from './plugin-access.ts'
import { recordPlugin } from './record-plugin.ts'

/** Raises `missing`, `forbidden`, and `invalid` for a plugin that other organizations may be using. */
export async function deletePlugin(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  pluginId: number,
  now: Instant,
): Promise<void> {
  requireCanWrite(actor, organization)
  const plugin = await getOwn(tx, organization, pluginId)
  if (plugin.isGlobal) {
    throw invalid(null, 'invalid_input', 'This plugin is global. Make it local (is_global: false) before deleting it.')
  }
  await tx.plugins.remove(plugin.id)
  await recordPlugin(tx, actor, plugin, { activity: 'uninstalled', changes: [] }, now)
}
