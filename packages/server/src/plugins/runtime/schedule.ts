import { dateOf, type Instant } from '../../instant.ts'
import type { Database } from '../../stores.ts'
import type { ActivePlugin } from './active-plugin.ts'

const periodMs: Readonly<Record<string, number>> = {
  runEveryMinute: 60_000,
  runEveryHour: 3_600_000,
  runEveryDay: 86_400_000,
}
/** Clocks of nodes that differ by less than this do not run a task twice. */
const clocksApartMsMax = 3_600_000
const scheduleLimits = { cpuMsMax: 5_000, wallMsMax: 30_000 }

/** Runs `runEveryMinute`, `runEveryHour` and `runEveryDay`, each once in its period on all nodes together. */
export interface Schedule {
  runDue(plugins: Iterable<ActivePlugin>, now: Instant): Promise<void>
}

export function createSchedule(database: Database): Schedule {
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
    const isOurs = await database.transaction(tx => tx.pluginWork.claimPeriod(configId, task, period, implausible))
    if (isOurs) await plugin.call(task, [], scheduleLimits).catch(ignore)
  }

  return {
    async runDue(plugins, now) {
      const tasks = [...plugins].flatMap(plugin => plugin.scheduledTasks.map(task => runTask(plugin, task, now)))
      await Promise.all(tasks)
    },
  }
}

/** The plugin's own log has it, and the next period comes anyway. */
function ignore(): void {}
