import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { SandboxFailure } from '../../../sandbox/sandbox.ts'
import type { Database } from '../../../stores.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import { type ActivePlugin, describe } from './active-plugin.ts'
import { deliverEvent, type PluginEvent } from './delivery/deliver-event.ts'
import type { PluginJob } from './plugin-work.ts'
import type { PluginLogWriter } from './services/plugin-log.ts'

/** Runs planned jobs. A lease keeps other nodes away; when a node dies with it, another runs the job once it has ended. */
export interface JobWorker {
  /** Runs what is due, and resolves when it is done. */
  runDue(now: Instant): Promise<void>
  /** Runs a job whose lease this node holds. Never throws: an unfinished job runs again when its lease has expired. */
  runTaken(plugin: ActivePlugin, job: PluginJob): Promise<void>
  /** Resolves when no job is running. */
  settled(): Promise<void>
}

export interface JobWorkerParts {
  readonly database: Database
  readonly findPlugin: (configId: number) => ActivePlugin | undefined
  readonly log: PluginLogWriter
  /** Called when the queue of a configuration has changed. */
  readonly onJobs: (enabled: EnabledConfig) => void
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
}

const jobLimits = { cpuMsMax: 5_000, wallMsMax: 30_000 }
const leaseMs = 90_000
const jobsAtOnceMax = 20
const attemptsMax = 5
const firstRetryMs = 5_000

/** Until when a lease that begins now lasts: longer than any job may run. */
export const takenUntil = (now: Instant): Instant => plusMilliseconds(now, leaseMs)

export function createJobWorker(parts: JobWorkerParts): JobWorker {
  const { database, findPlugin, log, onJobs, now: clock, onError } = parts
  const running = new Set<Promise<void>>()

  async function take(job: PluginJob, now: Instant): Promise<void> {
    const plugin = findPlugin(job.configId)
    if (!plugin) return
    const isOurs = await database.transaction(tx => tx.pluginJobs.lease(job, now, takenUntil(now)))
    if (isOurs) await run(plugin, { ...job, attempts: job.attempts + 1 }, now)
  }

  async function run(plugin: ActivePlugin, job: PluginJob, now: Instant): Promise<void> {
    onJobs(plugin.enabled)
    await runLeased(plugin, job, now)
    onJobs(plugin.enabled)
  }

  async function runLeased(plugin: ActivePlugin, job: PluginJob, now: Instant): Promise<void> {
    const left = await attempt(plugin, job)
    if (left) {
      const runAt = plusMilliseconds(now, firstRetryMs * 2 ** (job.attempts - 1))
      await database.transaction(tx => tx.pluginJobs.postpone(job.id, runAt, left.payload))
      return
    }
    // What a job has logged is not lost with this node once the job counts as done.
    await log.flush()
    await database.transaction(tx => tx.pluginJobs.finish(job.id))
  }

  /** Returns the remaining work for another run, if any. */
  async function attempt(plugin: ActivePlugin, job: PluginJob): Promise<{ readonly payload: unknown } | undefined> {
    if (job.kind === 'events') return deliverEvents(plugin, job)
    try {
      await call(plugin, job)
    } catch (error) {
      if (mayRetry(error, job)) return { payload: job.payload }
      // The next period of a task comes anyway, and the plugin's own log has what went wrong.
      if (job.kind !== 'task') {
        log.write(plugin.enabled, 'SYSTEM', 'ERROR', `The job ${job.name} was given up: ${describe(error)}`)
      }
    }
    return undefined
  }

  function call(plugin: ActivePlugin, { kind, name, payload }: PluginJob): Promise<unknown> {
    if (kind === 'flag_change') return plugin.call('onFlagChange', [payload], jobLimits)
    if (kind === 'task') return plugin.call(name, [], jobLimits)
    return plugin.runJob(name, payload, jobLimits)
  }

  async function deliverEvents(plugin: ActivePlugin, job: PluginJob) {
    const events = job.payload as readonly PluginEvent[]
    const outcomes = await Promise.allSettled(events.map(event => deliverEvent(plugin, event)))
    const left = events.filter((_event, index) => {
      const outcome = outcomes[index]
      return outcome?.status === 'rejected' && mayRetry(outcome.reason, job)
    })
    return left.length > 0 ? { payload: left } : undefined
  }

  function watched(work: Promise<void>): Promise<void> {
    const watching = work.finally(() => running.delete(watching))
    running.add(watching)
    return watching
  }

  return {
    async runDue(now) {
      const due = await database.read(tx => tx.pluginJobs.listDue(now, jobsAtOnceMax))
      await Promise.all(due.map(job => watched(take(job, now))))
      if (due.length === jobsAtOnceMax && due.some(job => findPlugin(job.configId))) await this.runDue(now)
    },
    runTaken: (plugin, job) => watched(run(plugin, job, clock()).catch(onError)),
    async settled() {
      await Promise.allSettled(running)
    },
  }
}

/**
 * A RetryError asks for it; a realm that was closed or lost under the job never had its chance, nor had one that could not be opened: what is
 * not a failure of the sandbox is one of ours, mostly a database that is away.
 */
function mayRetry(error: unknown, { kind, attempts }: PluginJob): boolean {
  if (attempts >= attemptsMax) return false
  if (!(error instanceof SandboxFailure)) return true
  const isInterrupted = error.kind === 'neighbor' || error.kind === 'closed'
  return isInterrupted || (kind !== 'task' && error.guest?.name === 'RetryError') || kind === 'flag_change'
}
