import { isObject } from '../../package/config-field.ts'
import type { ActivePlugin } from '../active-plugin.ts'

const deliverLimits = { cpuMsMax: 500, wallMsMax: 15_000 }

/** An event in the shape of the plugin API. */
export interface PluginEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  readonly team_id: number
  readonly properties: Readonly<Record<string, unknown>>
  readonly [other: string]: unknown
}

/** Delivers one stored event to one plugin. Raises the failure, after it was logged. */
export async function deliverEvent(plugin: ActivePlugin, event: PluginEvent): Promise<void> {
  if (plugin.offers('onEvent')) await plugin.call('onEvent', [event], deliverLimits)
  if (plugin.offers('composeWebhook')) await sendWebhook(plugin, event)
}

async function sendWebhook(plugin: ActivePlugin, event: PluginEvent): Promise<void> {
  const webhook = await plugin.call('composeWebhook', [event], deliverLimits)
  if (!isObject(webhook) || typeof webhook.url !== 'string') return
  const headers = isObject(webhook.headers) ? webhook.headers : {}
  const request = {
    method: typeof webhook.method === 'string' ? webhook.method : 'POST',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: typeof webhook.body === 'string' ? webhook.body : JSON.stringify(webhook.body ?? null),
  }
  // A webhook that fails is in the plugin's log; the event counts as delivered.
  await plugin.fetch(webhook.url, request).catch(() => {})
}
