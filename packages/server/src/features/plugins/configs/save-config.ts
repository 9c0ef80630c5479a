import { type Author, diffFields, type FieldChange } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { SecretBox } from '../../../storage/secret-box.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type ConfigField, readConfigFields } from '../package/config-field.ts'
import {
  type ConfigValues,
  checkValues,
  defaultValues,
  maskSecrets,
  replaceValues,
  type SealedKeys,
} from '../package/config-values.ts'
import { offersMethod, type Plugin } from '../plugin.ts'
import { subscribe } from '../runtime/delivery/flag-delivery.ts'
import { openSealed, openSecrets, sealSecrets } from './config-secrets.ts'
import type { AttachmentInfo, NewAttachment, PluginConfig } from './plugin-config.ts'
import { announceConfig, type ConfigRecord, recordConfig } from './record-config.ts'

/** What a request decides; what is left out stays. */
export interface ConfigInput {
  readonly enabled?: boolean | undefined
  readonly position?: number | undefined
  readonly values?: ConfigValues | undefined
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
  readonly deleted?: boolean | undefined
  readonly allowedHosts?: readonly string[] | undefined
  /** By field; null removes. */
  readonly attachments?: Readonly<Record<string, NewAttachment | null>> | undefined
}

const valuesCharactersMax = 1024 * 1024
const attachmentBytesMax = 1024 * 1024

/**
 * Creates or changes the project's configuration of a plugin. Values are checked against the plugin's settings whenever
 * they are sent, and whenever the plugin is to run. Raises `invalid` with the setting at fault.
 */
export async function saveConfig(
  tx: Stores,
  author: Author,
  project: Project,
  plugin: Plugin,
  input: ConfigInput,
  box: SecretBox,
  now: Instant,
): Promise<PluginConfig> {
  const stored = await tx.pluginConfigs.findByPlugin(project.id, plugin.id)
  const attachments = stored ? ((await tx.pluginConfigs.listAttachments([stored.id])).get(stored.id) ?? []) : []
  const fields = readConfigFields(plugin.configSchema)
  const before = stored ? openSecrets(box, stored) : {}
  const sealed: SealedKeys = new Set(stored ? Object.keys(openSealed(box, stored)) : [])
  const after = nextValues(fields, stored ? before : undefined, input.values, sealed)
  const attached = attachedAfter(fields, attachments, input.attachments ?? {})
  const enabled = input.deleted === true ? false : (input.enabled ?? stored?.enabled ?? false)
  if (enabled || input.values !== undefined) checkValues(fields, after, attached)
  checkHosts(plugin, input.allowedHosts ?? [])

  const valueChanges = diffMasked(fields, sealed, before, after)
  const position = input.position ?? stored?.position ?? (await tx.pluginConfigs.nextPosition(project.id))
  const next: Omit<PluginConfig, 'id'> = {
    projectId: project.id,
    pluginId: plugin.id,
    enabled,
    position,
    ...(stored && valueChanges.length === 0
      ? { values: stored.values, sealedSecrets: stored.sealedSecrets }
      : sealSecrets(box, { projectId: project.id, pluginId: plugin.id }, fields, after, sealed)),
    error: enabled ? null : (stored?.error ?? null),
    name: input.name === undefined ? (stored?.name ?? null) : input.name,
    description: input.description === undefined ? (stored?.description ?? null) : input.description,
    deleted: input.deleted ?? (input.enabled ? false : (stored?.deleted ?? false)),
    allowedHosts: input.allowedHosts ?? stored?.allowedHosts ?? [],
    version: (stored?.version ?? 0) + 1,
    createdAt: stored?.createdAt ?? now,
    updatedAt: now,
  }
  const records = recordsOf(stored, next, valueChanges, attachments, input.attachments ?? {})
  if (stored && records.length === 0 && !isMoved(stored, next)) return stored
  const config = await store(tx, stored, next)
  await storeAttachments(tx, config.id, input.attachments ?? {})
  for (const record of records) await recordConfig(tx, author, project, plugin, config, record, now)
  if (enabled && !stored?.enabled && offersMethod(plugin, 'onFlagChange'))
    await subscribe(tx, project.id, plugin.id, now)
  await announceConfig(tx, project, config, now)
  return config
}

async function store(
  tx: Stores,
  stored: PluginConfig | undefined,
  next: Omit<PluginConfig, 'id'>,
): Promise<PluginConfig> {
  if (!stored) return tx.pluginConfigs.create(next)
  const config = { ...next, id: stored.id }
  await tx.pluginConfigs.save(config)
  return config
}

function nextValues(
  fields: readonly ConfigField[],
  before: ConfigValues | undefined,
  sent: ConfigValues | undefined,
  sealed: SealedKeys,
): ConfigValues {
  if (sent === undefined) return before ?? defaultValues(fields)
  const values = before
    ? replaceValues(fields, before, sent, sealed)
    : { ...defaultValues(fields), ...replaceValues(fields, {}, sent) }
  const isAttachment = new Set(fields.filter(field => field.type === 'attachment').map(field => field.key))
  const plain = Object.fromEntries(Object.entries(values).filter(([key]) => !isAttachment.has(key)))
  const text = JSON.stringify(plain)
  if (text.length > valuesCharactersMax) throw invalid('config', 'max_length', 'The configuration is too large.')
  return plain
}

function attachedAfter(
  fields: readonly ConfigField[],
  stored: readonly AttachmentInfo[],
  changes: Readonly<Record<string, NewAttachment | null>>,
): ReadonlySet<string> {
  const attached = new Set(stored.map(({ key }) => key))
  for (const [key, attachment] of Object.entries(changes)) {
    const isKnown = fields.some(field => field.key === key && field.type === 'attachment')
    if (!isKnown) throw invalid('attachments', 'invalid_input', `The plugin has no attachment ${key}.`)
    if (attachment === null) attached.delete(key)
    else {
      const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(attachment.contentsBase64)
      if (!isBase64) throw invalid('attachments', 'invalid_input', `The attachment ${key} is not in base64.`)
      if (attachment.contentsBase64.length > (attachmentBytesMax * 4) / 3) {
        throw invalid('attachments', 'max_length', `The attachment ${key} is larger than ${attachmentBytesMax} bytes.`)
      }
      attached.add(key)
    }
  }
  return attached
}

async function storeAttachments(tx: Stores, configId: number, changes: Readonly<Record<string, NewAttachment | null>>) {
  for (const [key, attachment] of Object.entries(changes)) {
    if (attachment === null) await tx.pluginConfigs.removeAttachment(configId, key)
    else await tx.pluginConfigs.putAttachment(configId, key, attachment)
  }
}

function checkHosts(plugin: Plugin, hosts: readonly string[]): void {
  const unknown = hosts.find(host => !plugin.allowedHosts.includes(host.toLowerCase()))
  if (unknown === undefined) return
  const asked = plugin.allowedHosts.length > 0 ? plugin.allowedHosts.join(', ') : 'none'
  throw invalid(
    'allowed_hosts',
    'invalid_choice',
    `The plugin does not request the host ${unknown}. Hosts requested in plugin.json: ${asked}.`,
  )
}

/** Secrets are masked, and a changed one is still listed as a change. */
function diffMasked(
  fields: readonly ConfigField[],
  sealed: SealedKeys,
  before: ConfigValues,
  after: ConfigValues,
): readonly FieldChange[] {
  const [old, next] = [maskSecrets(fields, before, sealed), maskSecrets(fields, after, sealed)]
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const shownAfter = (key: string): unknown => {
    const isChangedSecret = next[key] !== after[key] && before[key] !== after[key]
    return isChangedSecret ? `${next[key]} (new)` : (next[key] ?? null)
  }
  return diffFields(
    Object.fromEntries(keys.map(key => [key, old[key] ?? null])),
    Object.fromEntries(keys.map(key => [key, shownAfter(key)])),
  )
}

function recordsOf(
  stored: PluginConfig | undefined,
  next: Omit<PluginConfig, 'id'>,
  valueChanges: readonly FieldChange[],
  attachments: readonly AttachmentInfo[],
  changed: Readonly<Record<string, NewAttachment | null>>,
): ConfigRecord[] {
  const hostChanges = diffFields({ allowed_hosts: stored?.allowedHosts ?? [] }, { allowed_hosts: next.allowedHosts })
  const changes = [...(stored ? valueChanges : []), ...hostChanges]
  const records: ConfigRecord[] = []
  if (changes.length > 0) records.push({ activity: 'config_updated', changes })
  for (const [key, attachment] of Object.entries(changed)) {
    const old = attachments.find(other => other.key === key)
    const change = { field: key, before: old?.fileName ?? null, after: attachment?.fileName ?? null }
    if (attachment && !old)
      records.push({ activity: 'attachment_created', changes: [{ action: 'created', ...change }] })
    if (attachment && old) records.push({ activity: 'attachment_updated', changes: [{ action: 'changed', ...change }] })
    if (!attachment && old)
      records.push({ activity: 'attachment_deleted', changes: [{ action: 'deleted', ...change }] })
  }
  if (next.enabled !== (stored?.enabled ?? false)) {
    records.push({ activity: next.enabled ? 'enabled' : 'disabled', changes: stored ? [] : valueChanges })
  }
  if (stored && next.position !== stored.position) {
    const change = { action: 'changed', field: 'order', before: stored.position, after: next.position } as const
    records.push({ activity: 'order_changed', changes: [change] })
  }
  return records
}

const isMoved = (stored: PluginConfig, next: Omit<PluginConfig, 'id'>): boolean =>
  stored.name !== next.name || stored.description !== next.description || stored.deleted !== next.deleted
