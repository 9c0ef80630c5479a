import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { PluginConfig } from './plugin-config.ts'
import { announceConfig, recordConfig } from './record-config.ts'

/** Disables a configuration that keeps failing, with the reason. */
export async function switchOff(
  tx: Stores,
  place: { readonly projectId: number; readonly organizationId: string; readonly pluginName: string },
  config: Pick<PluginConfig, 'id' | 'version'>,
  reason: string,
  now: Instant,
): Promise<void> {
  const stored = await tx.pluginConfigs.find(place.projectId, config.id)
  if (!stored?.enabled || stored.version !== config.version) return
  const error = { message: reason, time: now }
  await tx.pluginConfigs.save({ ...stored, enabled: false, error, version: stored.version + 1, updatedAt: now })
  const project = { id: place.projectId, organizationId: place.organizationId }
  const record = { activity: 'disabled', trigger: { job_type: 'switched_off', reason } } as const
  await recordConfig(tx, null, project, { name: place.pluginName }, stored, record, now)
  await announceConfig(tx, project, stored, now)
}
