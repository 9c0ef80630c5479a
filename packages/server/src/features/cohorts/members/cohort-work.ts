import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import type { FlagQuery, WalkRequest } from '../../../evaluation/scan/scan-request.ts'
import type { Scanner } from '../../../evaluation/scan/scanner.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { type Job, type JobContext, LeaseLost } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { EphemeralChanges, EphemeralTopic } from '../../../storage/changes/ephemeral-changes.ts'
import { cohortQuery } from '../cohort-query.ts'
import { queueCount } from '../create-cohort.ts'
import { recordCohort } from '../record-cohort.ts'
import type { CohortJob } from './cohort-job.ts'

interface CohortWorkOptions {
  readonly scanner: Scanner
  readonly ephemeral: Pick<EphemeralChanges, 'publish'>
  readonly now: () => Instant
  /** Called when a run ends before all due jobs are done. */
  readonly onMore: () => void
}

const withPersons = { withPersons: true }
/** A run ends well before its lease expires. */
const runMilliseconds = 20_000
const savedEveryMilliseconds = 2000
const recountAfterMilliseconds = 24 * 60 * 60 * 1000
const recountsPerRunMax = 20
const retryMillisecondsMin = 5000
const retryMillisecondsMax = 60 * 60 * 1000

/** Counts dynamic cohorts and fills static ones. After a crash, another node resumes at the last saved position. */
export const createCohortWork = (options: CohortWorkOptions): Job => ({
  name: 'cohorts',
  async run(context) {
    const end = monotonicNow() + runMilliseconds
    await enqueueStaleCounts(context, options.now())
    for (;;) {
      const job = await context.read(tx => tx.cohortJobs.findDue(options.now()))
      if (!job) return
      if (monotonicNow() >= end) return options.onMore()
      await runAndAnnounce(context, job, end, options)
    }
  },
})

async function runAndAnnounce(
  context: JobContext,
  job: CohortJob,
  end: number,
  options: CohortWorkOptions,
): Promise<void> {
  const announce = await announcer(context, job, options.ephemeral)
  const announcing = afterEachCommit(context, () => announce('cohort_progress'))
  try {
    await new CohortJobRun(announcing, job, end, options).run()
  } catch (error) {
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    await retryLater(context, job, error, options.now())
  } finally {
    announce('cohort_count')
  }
}

/** For open dashboards, which show how far the work is. */
async function announcer(
  context: JobContext,
  { projectId, cohortId }: CohortJob,
  ephemeral: CohortWorkOptions['ephemeral'],
) {
  const organizationId = (await context.read(tx => tx.projects.find(projectId)))?.organizationId
  return (topic: EphemeralTopic) => {
    if (organizationId) ephemeral.publish({ topic, organizationId, projectId, entityId: String(cohortId) })
  }
}

/** Retries with exponential backoff. */
async function retryLater(context: JobContext, job: CohortJob, error: unknown, at: Instant): Promise<void> {
  const wait = Math.min(retryMillisecondsMin * 2 ** job.attempts, retryMillisecondsMax)
  const message =
    error instanceof Problem ? error.message : 'An internal error occurred; the calculation will be retried.'
  await context.transaction(async tx => {
    await tx.cohortJobs.postpone(job, plusMilliseconds(at, wait))
    await tx.cohorts.saveCalculation(job.cohortId, { at, error: message })
  })
  if (!(error instanceof Problem)) throw error
}

/** One job, until it is done or until the time is up: then its position is saved. */
class CohortJobRun {
  readonly #context: JobContext
  readonly #job: CohortJob
  /** On the monotonic clock. */
  readonly #end: number
  readonly #scanner: Scanner
  readonly #now: () => Instant

  constructor(context: JobContext, job: CohortJob, end: number, { scanner, now }: CohortWorkOptions) {
    this.#context = context
    this.#job = job
    this.#end = end
    this.#scanner = scanner
    this.#now = now
  }

  run(): Promise<void> {
    const { task } = this.#job
    if (task.kind === 'count') return this.#count()
    if (task.kind === 'fill') return this.#fill(task)
    return this.#importIds()
  }

  async #count(): Promise<void> {
    const [context, job] = [this.#context, this.#job]
    const query = await context.read(tx => cohortQuery(tx, job.projectId, job.cohortId))
    if (!query) return dropJob(context, job)
    const total = await context.people.read(tx => tx.persons.count(job.projectId))
    let saved = monotonicNow()
    const at = new Date(this.#now()).getTime()
    const last = await this.#resumeScan(query, at, async next => {
      if (monotonicNow() - saved < savedEveryMilliseconds) return true
      saved = monotonicNow()
      return context.transaction(tx => tx.cohortJobs.advance({ ...next, total }))
    })
    if (!last.isComplete) return saveForLater(context, last.job)
    await context.transaction(async tx => {
      if (!(await tx.cohortJobs.finish(job))) return
      await tx.cohorts.saveCalculation(job.cohortId, { count: last.job.matched, at: this.#now(), error: null })
    })
  }

  async #fill(task: CohortJob['task'] & { kind: 'fill' }): Promise<void> {
    const { projectId, cohortId } = this.#job
    const query = { definitions: task.definitions, key: task.flagKey }
    const last = await this.#resumeScan(query, task.now, (next, on) =>
      this.#unlessSuperseded(async tx => {
        const added = await tx.people.cohortMembers.add(projectId, cohortId, on)
        await tx.cohorts.addToCount(cohortId, added)
        return tx.cohortJobs.advance(next)
      }),
    )
    if (last.isComplete) await this.#finishFilling({ added: last.job.matched })
  }

  /**
   * False, and nothing is done, when the job was superseded or removed. That is found out last: all that change members lock persons before
   * rows of the cohort, since no database sees a deadlock across two.
   */
  async #unlessSuperseded(work: (tx: Tx) => Promise<boolean>): Promise<boolean> {
    try {
      await this.#context.transaction(async tx => {
        if (!(await work(tx))) throw new SupersededError()
      }, withPersons)
      return true
    } catch (error) {
      if (error instanceof SupersededError) return false
      throw error
    }
  }

  async #importIds(): Promise<void> {
    let current = this.#job
    while (monotonicNow() < this.#end) {
      const next = await this.#context.transaction(tx => importChunk(tx, current), withPersons)
      if (next === 'gone') return
      if (next === 'done') {
        const { processed, matched } = current
        return this.#finishFilling({ added: matched, unknown: processed - matched })
      }
      current = next
      await yieldToEventLoop()
    }
  }

  /** Scans persons from the saved position until the end, until `onStep` returns false, or until the time is up. */
  async #resumeScan(
    query: FlagQuery,
    at: number,
    onStep: (next: CohortJob, on: readonly number[]) => Promise<boolean>,
  ): Promise<{ readonly job: CohortJob; readonly isComplete: boolean }> {
    const request: WalkRequest = {
      kind: 'walk',
      projectId: this.#job.projectId,
      target: { kind: 'persons' },
      queries: [query],
      now: at,
      descending: false,
      after: this.#job.position,
    }
    let current = this.#job
    let isStopped = false
    await this.#scanner.walk(request, new AbortController().signal, async ({ last, scanned, on }) => {
      const { processed, matched } = current
      current = { ...current, position: last, processed: processed + scanned, matched: matched + on.length }
      isStopped = !(await onStep(current, on)) || monotonicNow() >= this.#end
      return !isStopped
    })
    return { job: current, isComplete: !isStopped }
  }

  async #finishFilling(after: Readonly<Record<string, number>>): Promise<void> {
    const at = this.#now()
    const job = this.#job
    await this.#context.transaction(async tx => {
      const cohort = await tx.cohorts.find(job.projectId, job.cohortId)
      const project = await tx.projects.find(job.projectId)
      if (!(await tx.cohortJobs.finish(job)) || !cohort || !project) return
      await tx.cohorts.saveCalculation(job.cohortId, { count: cohort.calculation.count ?? 0, at, error: null })
      const changes = [{ action: 'changed', field: 'members', before: null, after }] as const
      await recordCohort(tx, null, project, cohort, { activity: 'updated', changes }, at)
    })
  }
}

/** Rolls back what a superseded job has done. */
class SupersededError extends Error {}

const afterEachCommit = (context: JobContext, listener: () => void): JobContext => ({
  ...context,
  async transaction(work, hints) {
    const result = await context.transaction(work, hints)
    listener()
    return result
  },
})

async function enqueueStaleCounts(context: JobContext, now: Instant): Promise<void> {
  const since = plusMilliseconds(now, -recountAfterMilliseconds)
  const old = await context.read(tx => tx.cohorts.listDynamicNotCounted(since, recountsPerRunMax))
  if (old.length === 0) return
  await context.transaction(async tx => {
    for (const cohortId of old) await queueCount(tx, cohortId, now)
  })
}

const saveForLater = async (context: JobContext, job: CohortJob): Promise<void> => {
  await context.transaction(tx => tx.cohortJobs.advance(job))
}

const dropJob = async (context: JobContext, job: CohortJob): Promise<void> => {
  await context.transaction(tx => tx.cohortJobs.finish(job))
}

type Tx = Parameters<Parameters<JobContext['transaction']>[0]>[0]

/** Imports one chunk and removes it, in one transaction. */
async function importChunk(tx: Tx, job: CohortJob): Promise<CohortJob | 'done' | 'gone'> {
  const chunk = await tx.cohortJobs.nextImport(job.cohortId)
  if (!chunk) return 'done'
  const personIds = await tx.people.cohortMembers.findPersons(job.projectId, chunk.distinctIds)
  const added = await tx.people.cohortMembers.add(job.projectId, job.cohortId, [...new Set(personIds.values())])
  await tx.cohorts.addToCount(job.cohortId, added)
  await tx.cohortJobs.removeImport(chunk.id)
  const next = { ...job, processed: job.processed + chunk.distinctIds.length, matched: job.matched + personIds.size }
  return (await tx.cohortJobs.advance(next)) ? next : 'gone'
}
