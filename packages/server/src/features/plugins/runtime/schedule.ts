import { dateOf, type Instant } from '../../../instant.ts'
import type { Database } from '../../../stores.ts'
import type { ActivePlugin } from './active-plugin.ts'
import { type JobWorker, takenUntil } from './job-worker.ts'
import type { NewPluginJob } from './plugin-work.ts'

const periodMs: Readonly<Record<string, number>> = {
  runEveryMinute: 60_000,
  runEveryHour: 3_600_000,
  runEveryDay: 86_400_000,
}
/** Clocks of nodes that differ by less than this do not run a task twice. */
const clocksApartMsMax = 3_600_000

/**
 * Runs `runEveryMinute`, `runEveryHour` and `runEveryDay`, each once per period in the cluster. The node that claims a period creates a job
 * with its own lease, so that another node runs it after a crash.
 */
export interface Schedule {
  runDue(plugins: Iterable<ActivePlugin>, now: Instant): Promise<void>
}

export function createSchedule(database: Database, jobs: Pick<JobWorker, 'runTaken'>): Schedule {
  const seen = new WeakMap<ActivePlugin, Map<string, number>>()

  async function runTask(plugin: ActivePlugin, task: string, now: Instant): Promise<void> {
    const length = periodMs[task]
    if (length === undefined) return
    const period = Math.floor(dateOf(now).getTime() / length)
    const mine = seen.get(plugin) ?? new Map<string, number>()
    seen.set(plugin, mine)
    if (mine.get(task) === period) return
    const implausible = period + 2 + Math.ceil(clocksApartMsMax / length)
    mine.set(task, period)
    const configId = plugin.enabled.config.id
    const job: NewPluginJob = { configId, kind: 'task', name: task, payload: null, runAt: now }
    const [ours] = await database.transaction(async tx => {
      const isOurs = await tx.pluginJobs.claimPeriod(configId, task, period, implausible)
      return isOurs ? tx.pluginJobs.enqueueTaken([job], now, takenUntil(now)) : []
    })
    if (ours) await jobs.runTaken(plugin, ours)
  }

  return {
    async runDue(plugins, now) {
      const tasks = [...plugins].flatMap(plugin => plugin.scheduledTasks.map(task => runTask(plugin, task, now)))
      await Promise.all(tasks)
    },
  }
}
