import { type Author, authorOf, type FieldChange } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import type { Plugin } from '../plugin.ts'
import type { PluginConfig } from './plugin-config.ts'

export interface ConfigRecord {
  readonly activity:
    | 'enabled'
    | 'disabled'
    | 'config_updated'
    | 'order_changed'
    | 'attachment_created'
    | 'attachment_updated'
    | 'attachment_deleted'
    | 'job_triggered'
  readonly changes?: readonly FieldChange[]
  readonly trigger?: Readonly<Record<string, unknown>>
}

type Place = Pick<Project, 'id' | 'organizationId'>

export const recordConfig = (
  tx: Stores,
  author: Author,
  project: Place,
  plugin: Pick<Plugin, 'name'>,
  config: Pick<PluginConfig, 'id'>,
  { activity, changes = [], trigger }: ConfigRecord,
  now: Instant,
): Promise<void> =>
  tx.activity.append({
    organizationId: project.organizationId,
    projectId: project.id,
    scope: 'PluginConfig',
    itemId: String(config.id),
    activity,
    ...authorOf(author),
    detail: { name: plugin.name, changes, trigger: trigger ?? null },
    createdAt: now,
  })

/** Notifies the nodes that what they run has changed. */
export const announceConfig = (
  tx: Stores,
  project: Place,
  config: Pick<PluginConfig, 'pluginId'>,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'plugin',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(config.pluginId),
    at: now,
  })
