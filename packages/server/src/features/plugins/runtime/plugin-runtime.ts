import { randomUUID } from 'node:crypto'
import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { ChangeFeed } from '../../../storage/changes/changes.ts'
import type { EventPipeline } from '../../events/event-pipeline.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import { type ActivationParts, activatePlugin } from './activate-plugin.ts'
import type { ActivePlugin } from './active-plugin.ts'
import { createEventChain } from './delivery/event-chain.ts'
import { enqueueFlagChanges } from './delivery/flag-delivery.ts'
import { createJobWorker } from './job-worker.ts'
import { createSchedule } from './schedule.ts'

/** The plugins that run on this node. */
export interface PluginRuntime {
  /** For ingestion. */
  readonly events: EventPipeline
  pluginsOf(projectId: number): readonly ActivePlugin[]
  /** How many realms are open now. */
  readonly openRealms: number
  /** Reads what is enabled and follows changes from then on. */
  start(): Promise<void>
  /** Schedules, jobs and flag changes that are due. */
  tick(now: Instant): Promise<void>
  /** Something may have become due. */
  wake(): void
  close(): Promise<void>
}

export interface RuntimeParts extends Omit<ActivationParts, 'mark' | 'wake'> {
  readonly changes: ChangeFeed
  /** How often this node looks for work; 0 leaves schedules and jobs to other nodes. */
  readonly everyMs: number
}

const logKeptMs = 7 * 24 * 60 * 60 * 1_000
const pruneEveryMs = 60 * 60 * 1_000
const flushEveryMs = 500

export function createPluginRuntime(parts: RuntimeParts): PluginRuntime {
  const { database, changes, pool, log, meter, onJobs, now, everyMs, onError } = parts
  let active = new Map<number, ActivePlugin>()
  let byProject = new Map<number, readonly ActivePlugin[]>()
  let reloading: Promise<void> = Promise.resolve()
  let ticking: Promise<void> | undefined
  let tickAgain = false
  let prunedAt = Number.NEGATIVE_INFINITY
  let closed = false
  const timers: NodeJS.Timeout[] = []
  const mark = randomUUID()
  const pluginsOf = (projectId: number) => byProject.get(projectId) ?? []
  const jobs = createJobWorker({ database, findPlugin: configId => active.get(configId), log, onJobs, now, onError })
  const schedule = createSchedule(database, jobs)

  /** What has not changed continues; the rest is closed and, if it is still enabled, created again. */
  async function reload(): Promise<void> {
    if (closed) return
    const enabled = await database.read(tx => tx.pluginConfigs.listEnabled())
    const next = new Map<number, ActivePlugin>()
    for (const one of enabled) {
      const old = active.get(one.config.id)
      const isSame = old && versionOf(old.enabled) === versionOf(one)
      next.set(one.config.id, isSame ? old : activatePlugin(one, { ...parts, mark, wake }))
    }
    const gone = [...active].filter(([id, plugin]) => next.get(id) !== plugin).map(([, plugin]) => plugin)
    const fresh = [...next.values()].filter(plugin => active.get(plugin.enabled.config.id) !== plugin)
    active = next
    byProject = groupByProject(next.values())
    for (const plugin of gone) void plugin.close().catch(onError)
    for (const plugin of fresh) if (needsSetupNow(plugin)) void plugin.prepare()
  }

  function wake(): void {
    if (closed || everyMs === 0) return
    tickAgain = ticking !== undefined
    ticking ??= tick(now())
      .catch(onError)
      .finally(() => {
        ticking = undefined
        if (tickAgain) wake()
      })
  }

  async function tick(at: Instant): Promise<void> {
    await deliverFlagChanges(at)
    await Promise.all([schedule.runDue(active.values(), at), jobs.runDue(at)])
    if (monotonicNow() - prunedAt > pruneEveryMs) {
      prunedAt = monotonicNow()
      // By the clock that sets the timestamps of log lines, not by the scheduled time of the job.
      await database.transaction(tx => tx.pluginLogs.prune(plusMilliseconds(now(), -logKeptMs)))
    }
  }

  async function deliverFlagChanges(at: Instant): Promise<void> {
    for (const [projectId, plugins] of byProject) {
      const isSubscribed = plugins.some(plugin => plugin.offers('onFlagChange'))
      if (isSubscribed) while (await enqueueFlagChanges(database, projectId, at)) {}
    }
  }

  const flush = () => Promise.all([log.flush(), meter.flush()])

  return {
    events: createEventChain(pluginsOf, mark, jobs),
    pluginsOf,
    get openRealms() {
      return pool.openRealms
    },
    async start() {
      await reload()
      const reloadInOrder = () => {
        reloading = reloading.then(reload, reload)
        return reloading
      }
      const restart = async () => {
        await reloadInOrder()
        wake()
      }
      changes.subscribe(async batch => {
        if (batch.some(change => change.topic === 'plugin' || change.topic === 'project')) await reloadInOrder()
        // Not awaited: the work needs transactions of its own, and those wait for the listeners.
        if (batch.some(change => change.topic === 'flag' && pluginsOf(change.projectId ?? 0).length > 0)) wake()
      }, restart)
      if (everyMs > 0) timers.push(setInterval(wake, everyMs).unref())
      timers.push(setInterval(() => void flush().catch(onError), flushEveryMs).unref())
    },
    tick,
    wake,
    async close() {
      closed = true
      for (const timer of timers) clearInterval(timer)
      await ticking
      await Promise.all([...active.values()].map(plugin => plugin.close().catch(onError)))
      await jobs.settled()
      await flush().catch(onError)
    },
  }
}

const versionOf = ({ config, plugin, pinnedDigest }: EnabledConfig): string =>
  `${config.version} ${pinnedDigest ?? plugin.version}`

/** As PostHog: a plugin with schedules or jobs is set up at once, any other at its first call. */
function needsSetupNow(plugin: ActivePlugin): boolean {
  const { jobs } = plugin.enabled.plugin.capabilities as { jobs?: unknown }
  return plugin.scheduledTasks.length > 0 || (Array.isArray(jobs) && jobs.length > 0)
}

function groupByProject(plugins: Iterable<ActivePlugin>): Map<number, readonly ActivePlugin[]> {
  const groups = new Map<number, ActivePlugin[]>()
  for (const plugin of plugins) {
    const { projectId } = plugin.enabled.config
    groups.set(projectId, [...(groups.get(projectId) ?? []), plugin])
  }
  return groups
}
