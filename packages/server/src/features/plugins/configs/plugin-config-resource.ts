import type {
  PluginConfig as ConfigWire,
  PluginJob as JobWire,
  PluginConfigWrite,
  PluginLogEntry,
} from '@halyard/contract'
import type { Instant } from '../../../instant.ts'
import { type ConfigField, readConfigFields } from '../package/config-field.ts'
import { maskSecrets, secretMask } from '../package/config-values.ts'
import type { Plugin } from '../plugin.ts'
import { pluginToWire } from '../plugin-resource.ts'
import type { PlannedJob, PluginLog } from '../runtime/plugin-work.ts'
import type { AttachmentInfo, PluginConfig } from './plugin-config.ts'
import type { ConfigInput } from './save-config.ts'

/** Wire ↔ domain, both ways. */

export interface ConfigView {
  readonly config: PluginConfig
  readonly plugin: Plugin
  readonly updateAvailable: boolean
  readonly attachments: readonly AttachmentInfo[]
  /** The fraction of successful calls in the last day; null when there were none. */
  readonly deliveryRate: number | null
}

export function configToWire(
  { config, plugin, updateAvailable, attachments, deliveryRate }: ConfigView,
  withPlugin: boolean,
): ConfigWire {
  const fields = readConfigFields(plugin.configSchema)
  return {
    id: config.id,
    plugin: config.pluginId,
    enabled: config.enabled,
    order: config.position,
    // Secrets are not decrypted for this: the stored values contain masks.
    config: { ...maskSecrets(fields, config.values), ...Object.fromEntries(attachments.map(shownAttachment(fields))) },
    error: config.error === null ? null : { ...config.error },
    team_id: config.projectId,
    plugin_info: withPlugin ? pluginToWire(plugin) : null,
    delivery_rate_24h: deliveryRate,
    created_at: config.createdAt,
    updated_at: config.updatedAt,
    name: config.name,
    description: config.description,
    deleted: config.deleted,
    allowed_hosts: [...config.allowedHosts],
    update_available: updateAvailable,
  }
}

const shownAttachment = (fields: readonly ConfigField[]) => (attachment: AttachmentInfo) => {
  const isSecret = fields.some(field => field.key === attachment.key && field.secret)
  const { id, fileName, contentType, sizeBytes } = attachment
  const shown = { uid: id, saved: true, size: sizeBytes, name: fileName, type: contentType }
  return [attachment.key, isSecret ? { ...shown, uid: -1, size: -1, name: secretMask } : shown] as const
}

export function inputFromWire(body: PluginConfigWrite): ConfigInput {
  return {
    enabled: body.enabled,
    position: body.order,
    values: body.config,
    name: body.name,
    description: body.description,
    deleted: body.deleted,
    allowedHosts: body.allowed_hosts?.map(host => host.toLowerCase()),
    attachments:
      body.attachments &&
      Object.fromEntries(
        Object.entries(body.attachments).map(([key, file]) => [
          key,
          file && {
            fileName: file.file_name,
            contentType: file.content_type ?? 'application/octet-stream',
            contentsBase64: file.contents_base64,
          },
        ]),
      ),
  }
}

export const logToWire = (log: PluginLog, { config }: Pick<ConfigView, 'config'>): PluginLogEntry => ({
  id: log.id,
  team_id: config.projectId,
  plugin_id: config.pluginId,
  plugin_config_id: config.id,
  timestamp: log.loggedAt,
  source: log.source,
  type: log.type,
  message: log.message,
  instance_id: log.instanceId,
})

export const jobToWire = (job: PlannedJob, now: Instant): JobWire => ({
  id: job.id,
  name: job.name,
  kind: job.kind === 'flag_change' ? 'flag_change' : 'job',
  state: job.leasedUntil !== null && job.leasedUntil > now ? 'running' : 'waiting',
  run_at: job.runAt,
  attempts: job.attempts,
  created_at: job.createdAt,
})
