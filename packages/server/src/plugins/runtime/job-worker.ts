import { type Instant, plusMilliseconds } from '../../instant.ts'
import { SandboxFailure } from '../../sandbox/sandbox.ts'
import type { Database } from '../../stores.ts'
import { type ActivePlugin, describe } from './active-plugin.ts'
import type { PluginLogWriter } from './plugin-log.ts'
import type { PluginJob } from './plugin-work-store.ts'

/** Runs planned jobs. A lease keeps other nodes away; when a node dies with it, another runs the job once it has ended. */
export interface JobWorker {
  /** Runs what is due, and resolves when it is done. */
  runDue(now: Instant): Promise<void>
}

const jobLimits = { cpuMsMax: 5_000, wallMsMax: 30_000 }
const leaseMs = 90_000
const jobsAtOnceMax = 20
const attemptsMax = 5
const firstRetryMs = 5_000

export function createJobWorker(
  database: Database,
  findPlugin: (configId: number) => ActivePlugin | undefined,
  log: PluginLogWriter,
): JobWorker {
  async function take(job: PluginJob, now: Instant): Promise<void> {
    const plugin = findPlugin(job.configId)
    if (!plugin) return
    const until = plusMilliseconds(now, leaseMs)
    const isOurs = await database.transaction(tx => tx.pluginWork.lease(job, now, until))
    if (isOurs) await run(plugin, { ...job, attempts: job.attempts + 1 }, now)
  }

  async function run(plugin: ActivePlugin, job: PluginJob, now: Instant): Promise<void> {
    try {
      if (job.kind === 'flag_change') await plugin.call('onFlagChange', [job.payload], jobLimits)
      else await plugin.runJob(job.name, job.payload, jobLimits)
    } catch (error) {
      if (mayRetry(error, job)) return void (await postpone(job, now))
      log.write(job.configId, 'SYSTEM', 'ERROR', `The job ${job.name} was given up: ${describe(error)}`)
    }
    await database.transaction(tx => tx.pluginWork.finish(job.id))
  }

  async function postpone(job: PluginJob, now: Instant): Promise<void> {
    const runAt = plusMilliseconds(now, firstRetryMs * 2 ** (job.attempts - 1))
    await database.transaction(tx => tx.pluginWork.postpone(job.id, runAt))
  }

  return {
    async runDue(now) {
      const due = await database.read(tx => tx.pluginWork.listDue(now, jobsAtOnceMax))
      await Promise.all(due.map(job => take(job, now)))
      if (due.length === jobsAtOnceMax && due.some(job => findPlugin(job.configId))) await this.runDue(now)
    },
  }
}

/** A RetryError asks for it; a realm that was closed or lost under the job never had its chance. */
function mayRetry(error: unknown, { kind, attempts }: PluginJob): boolean {
  if (!(error instanceof SandboxFailure) || attempts >= attemptsMax) return false
  const isInterrupted = error.kind === 'neighbour' || error.kind === 'closed'
  return isInterrupted || error.guest?.name === 'RetryError' || kind === 'flag_change'
}
