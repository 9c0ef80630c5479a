import type { IncomingEvent } from '../../events/event.ts'
import type { EventPipeline } from '../../events/event-pipeline.ts'
import type { Project } from '../../tenancy.ts'
import { isObject } from '../package/config-field.ts'
import type { ActivePlugin } from './active-plugin.ts'
import { markProperty } from './create-services.ts'

const processLimits = { cpuMsMax: 500, wallMsMax: 5_000 }
const deliverLimits = { cpuMsMax: 500, wallMsMax: 15_000 }
const deliveriesWaitingMax = 1_000

/** The plugins of a project between the arrival of an event and its keeping, and after it. */
export function createEventChain(
  pluginsOf: (projectId: number) => readonly ActivePlugin[],
  mark: string,
): EventPipeline {
  const isFromPlugin = (event: IncomingEvent): boolean => event.properties[markProperty] === mark
  let waiting = 0

  async function deliverTo(plugin: ActivePlugin, event: PluginEvent): Promise<void> {
    if (waiting >= deliveriesWaitingMax) {
      plugin.noteDropped()
      return
    }
    waiting += 1
    try {
      if (plugin.offers('onEvent')) await plugin.call('onEvent', [event], deliverLimits)
      if (plugin.offers('composeWebhook')) await sendWebhook(plugin, event)
    } catch {
      // The plugin's own log has it; the event itself is safe.
    } finally {
      waiting -= 1
    }
  }

  return {
    handles: project => pluginsOf(project.id).some(plugin => plugin.offers('processEvent')),
    async transform(project, event) {
      if (isFromPlugin(event)) return event
      const lists = { $plugins_succeeded: [] as string[], $plugins_failed: [] as string[], $plugins_deferred: [] }
      let current = toPluginEvent(project, event)
      for (const plugin of pluginsOf(project.id)) {
        if (!plugin.offers('processEvent')) continue
        const label = `${plugin.enabled.plugin.name} (${plugin.enabled.config.id})`
        try {
          const result = await plugin.call('processEvent', [current], processLimits)
          if (result === null || result === undefined) {
            plugin.noteDropped()
            return null
          }
          current = checkEvent(result, current)
          lists.$plugins_succeeded.push(label)
        } catch {
          lists.$plugins_failed.push(label)
        }
      }
      return fromPluginEvent({ ...current, properties: { ...current.properties, ...lists } }, event)
    },
    deliver(project, events) {
      for (const plugin of pluginsOf(project.id)) {
        if (!plugin.offers('onEvent') && !plugin.offers('composeWebhook')) continue
        for (const event of events) if (!isFromPlugin(event)) void deliverTo(plugin, toPluginEvent(project, event))
      }
    },
  }
}

/** An event in the shape that plugins know. */
interface PluginEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  readonly team_id: number
  readonly properties: Readonly<Record<string, unknown>>
  readonly [other: string]: unknown
}

const toPluginEvent = (project: Project, event: IncomingEvent): PluginEvent => ({
  uuid: event.uuid,
  event: event.name,
  distinct_id: event.distinctId,
  ip: event.ip,
  site_url: '',
  team_id: project.id,
  now: event.at,
  timestamp: event.at,
  properties: event.properties,
})

/** What comes back must still be an event, and of the same project. */
function checkEvent(result: unknown, before: PluginEvent): PluginEvent {
  if (!isObject(result) || typeof result.event !== 'string' || result.event === '')
    throw new Error('No event came back.')
  const { distinct_id: distinctId, properties } = result
  return {
    ...result,
    uuid: before.uuid,
    event: result.event,
    distinct_id: typeof distinctId === 'string' && distinctId !== '' ? distinctId : before.distinct_id,
    properties: isObject(properties) ? properties : {},
    team_id: before.team_id,
  }
}

/** Plugins may set person properties beside the properties as well as inside; inside is where they are looked for. */
function fromPluginEvent(result: PluginEvent, original: IncomingEvent): IncomingEvent {
  const properties: Record<string, unknown> = { ...result.properties }
  for (const name of ['$set', '$set_once'] as const) {
    if (isObject(result[name]))
      properties[name] = { ...(isObject(properties[name]) ? properties[name] : {}), ...result[name] }
  }
  return {
    ...original,
    name: result.event,
    distinctId: result.distinct_id,
    properties: properties as IncomingEvent['properties'],
    ip: typeof result.ip === 'string' ? result.ip : null,
  }
}

async function sendWebhook(plugin: ActivePlugin, event: PluginEvent): Promise<void> {
  const webhook = await plugin.call('composeWebhook', [event], deliverLimits)
  if (!isObject(webhook) || typeof webhook.url !== 'string') return
  const headers = isObject(webhook.headers) ? webhook.headers : {}
  await plugin.fetch(webhook.url, {
    method: typeof webhook.method === 'string' ? webhook.method : 'POST',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: typeof webhook.body === 'string' ? webhook.body : JSON.stringify(webhook.body ?? null),
  })
}
