import { type Author, authorOf, type FieldChange } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Plugin } from './plugin.ts'

export interface PluginRecord {
  readonly activity: 'installed' | 'uninstalled' | 'updated' | 'upgraded' | 'source_updated' | 'release_accepted'
  readonly changes: readonly FieldChange[]
}

/** What goes with every saved plugin, in the same transaction: the activity entry and the change notification. */
export async function recordPlugin(
  tx: Stores,
  author: Author,
  plugin: Pick<Plugin, 'id' | 'organizationId' | 'name'>,
  { activity, changes }: PluginRecord,
  now: Instant,
): Promise<void> {
  await tx.activity.append({
    organizationId: plugin.organizationId,
    projectId: null,
    scope: 'Plugin',
    itemId: String(plugin.id),
    activity,
    ...authorOf(author),
    detail: { name: plugin.name, changes, trigger: null },
    createdAt: now,
  })
  await announcePlugin(tx, plugin, now)
}

export const announcePlugin = (
  tx: Stores,
  plugin: Pick<Plugin, 'id' | 'organizationId'>,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'plugin',
    organizationId: plugin.organizationId,
    projectId: null,
    entityId: String(plugin.id),
    at: now,
  })
