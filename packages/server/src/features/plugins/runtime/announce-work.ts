import type { EphemeralChanges } from '../../../storage/changes/ephemeral-changes.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'

/** Announces new log entries and changes of the job queue to open dashboards. */
export function announceWork(ephemeral: Pick<EphemeralChanges, 'publish'>) {
  const announce = (topic: 'plugin_log' | 'plugin_job') => {
    return ({ config, organizationId }: EnabledConfig) =>
      ephemeral.publish({ topic, organizationId, projectId: config.projectId, entityId: String(config.id) })
  }
  return { logged: announce('plugin_log'), jobsChanged: announce('plugin_job') }
}
