import type { IncomingEvent } from '../../../../domain/event.ts'
import type { Instant } from '../../../../instant.ts'
import { inParts } from '../../../../storage/in-batches.ts'
import type { Stores } from '../../../../stores.ts'
import type { Project } from '../../../../tenancy.ts'
import type { EventPipeline } from '../../../events/event-pipeline.ts'
import { isObject } from '../../package/config-field.ts'
import type { ActivePlugin } from '../active-plugin.ts'
import { type JobWorker, takenUntil } from '../job-worker.ts'
import type { NewPluginJob, PluginJob } from '../plugin-work.ts'
import { markProperty } from '../services/create-services.ts'
import type { PluginEvent } from './deliver-event.ts'

const processLimits = { cpuMsMax: 500, wallMsMax: 5_000 }
const eventsWaitingMax = 1_000
/** So few that they are done before their lease ends, however slow the plugin is. */
const eventsInJobMax = 20
/** A plugin that never catches up must not fill the database. */
const jobsMax = 5_000

/** The plugins of a project between the arrival of an event and its keeping, and after it. */
export function createEventChain(
  pluginsOf: (projectId: number) => readonly ActivePlugin[],
  mark: string,
  jobs: Pick<JobWorker, 'runTaken'>,
): EventPipeline {
  const isFromPlugin = (event: IncomingEvent): boolean => event.properties[markProperty] === mark
  let waiting = 0

  /** The in-memory queue is bounded; beyond that, jobs have no lease and any node runs them. */
  async function plan(tx: Stores, plugin: ActivePlugin, events: readonly PluginEvent[], now: Instant): Promise<Plan> {
    const configId = plugin.enabled.config.id
    const isCrowded = waiting + events.length > eventsWaitingMax
    if (isCrowded && (await tx.pluginJobs.count(configId, 'events')) >= jobsMax) {
      return { plugin, taken: [], dropped: events.length }
    }
    const batch = [...inParts(events, eventsInJobMax)].map(
      (payload): NewPluginJob => ({ configId, kind: 'events', name: 'onEvent', payload, runAt: now }),
    )
    const planned = await tx.pluginJobs.enqueueTaken(batch, now, isCrowded ? null : takenUntil(now))
    return { plugin, taken: isCrowded ? [] : planned, dropped: 0 }
  }

  function deliver({ plugin, taken, dropped }: Plan): void {
    for (let n = 0; n < dropped; n += 1) plugin.noteDropped()
    for (const job of taken) {
      const { length } = job.payload as readonly PluginEvent[]
      waiting += length
      void jobs.runTaken(plugin, job).finally(() => {
        waiting -= length
      })
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
    async keep(tx, project, events, now) {
      const listening = pluginsOf(project.id).filter(
        plugin => plugin.offers('onEvent') || plugin.offers('composeWebhook'),
      )
      const deliverable = listening.length === 0 ? [] : events.filter(event => !isFromPlugin(event))
      if (deliverable.length === 0) return () => {}
      const shown = deliverable.map(event => toPluginEvent(project, event))
      const plans: Plan[] = []
      for (const plugin of listening) plans.push(await plan(tx, plugin, shown, now))
      return () => plans.forEach(deliver)
    },
  }
}

/** What is delivered of some events to one plugin. */
interface Plan {
  readonly plugin: ActivePlugin
  /** By this node, at once. */
  readonly taken: readonly PluginJob[]
  readonly dropped: number
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
