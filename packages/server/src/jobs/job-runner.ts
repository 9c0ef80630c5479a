import { type Instant, plusMilliseconds } from '../instant.ts'
import type { Database, Hints, Stores } from '../stores.ts'

/** Recurring work that one node at a time runs for the whole cluster. */
export interface Job {
  /** Names the lease; two jobs of one name exclude each other on all nodes. */
  readonly name: string
  run(context: JobContext): Promise<void>
}

/** The context of a job while its node holds the lease. */
export interface JobContext {
  readonly now: Instant
  /** As `Database.transaction`, but raises `LeaseLost` and writes nothing when another node has taken over meanwhile. */
  transaction<T>(work: (tx: Stores) => Promise<T>, hints?: Hints): Promise<T>
  /** As `Database.read`. */
  read<T>(work: (tx: Stores) => Promise<T>): Promise<T>
  /** As `Database.people`: without the lease, for reads and for work that two nodes may do. */
  readonly people: Database['people']
  /** The program is ending: a long run leaves the rest for later. */
  isStopping(): boolean
}

export class LeaseLost extends Error {
  constructor(name: string) {
    super(`Another node has taken over the job "${name}".`)
    this.name = 'LeaseLost'
  }
}

export interface JobRunner {
  /** Runs every job whose lease this node gets, and resolves when they are done. Failures are reported, never thrown. */
  runDue(now: Instant): Promise<void>
  /** Finishes running jobs and releases the leases. */
  close(): Promise<void>
}

/** Called after each run for which this node held the lease. */
export type JobObserver = (job: string, outcome: 'success' | 'failure', seconds: number) => void

interface JobRunnerOptions {
  readonly database: Database
  /** The holder of the leases; unique among the nodes of a database. */
  readonly node: string
  readonly jobs: readonly Job[]
  readonly now: () => Instant
  /** The interval between runs; 0 means that only `runDue` runs jobs. */
  readonly everyMilliseconds: number
  readonly onError: (job: string, error: unknown) => void
  readonly onRun?: JobObserver
}

const leaseMilliseconds = 60_000

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { database, node, jobs, everyMilliseconds, onError, onRun = () => {} } = options
  const running = new Map<string, Promise<void>>()
  const waiting = new Map<string, { now: Instant; readonly done: Promise<void> }>()
  let isClosed = false

  async function take(job: Job, now: Instant): Promise<void> {
    const until = () => plusMilliseconds(now, leaseMilliseconds)
    const lease = await database.transaction(tx => tx.leases.acquire(job.name, node, now, until()))
    if (!lease) return
    const start = performance.now()
    const report = (outcome: 'success' | 'failure') => onRun(job.name, outcome, (performance.now() - start) / 1000)
    const context: JobContext = {
      now,
      read: work => database.read(work),
      isStopping: () => isClosed,
      people: database.people,
      transaction: (work, hints) =>
        database.transaction(async tx => {
          if (!(await tx.leases.keep(lease, until()))) throw new LeaseLost(job.name)
          return work(tx)
        }, hints),
    }
    try {
      await job.run(context)
      report('success')
    } catch (error) {
      report('failure')
      throw error
    }
  }

  function start(job: Job, now: Instant): Promise<void> {
    const run = take(job, now)
      .catch(error => onError(job.name, error))
      .finally(() => running.delete(job.name))
    running.set(job.name, run)
    return run
  }

  /** A running job may have read before the new work existed, so it runs once more afterwards, for all requests since. */
  function runOnce(job: Job, now: Instant): Promise<void> {
    const busy = running.get(job.name)
    if (!busy) return start(job, now)
    const next = waiting.get(job.name) ?? { now, done: busy.then(() => startWaiting(job)) }
    next.now = now
    waiting.set(job.name, next)
    return next.done
  }

  function startWaiting(job: Job): Promise<void> | undefined {
    const next = waiting.get(job.name)
    waiting.delete(job.name)
    return next && !isClosed ? start(job, next.now) : undefined
  }

  const runDue = async (now: Instant): Promise<void> => {
    if (isClosed) return
    await Promise.all(jobs.map(job => runOnce(job, now)))
  }
  const timer = everyMilliseconds > 0 ? setInterval(() => runDue(options.now()), everyMilliseconds) : undefined

  return {
    runDue,
    async close() {
      isClosed = true
      clearInterval(timer)
      await Promise.all(running.values())
      await database.transaction(tx => tx.leases.releaseAll(node)).catch(error => onError('release', error))
    },
  }
}
