import { setImmediate as letOthersRun } from 'node:timers/promises'
import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Job, Turn } from '../../../jobs/job-runner.ts'
import { LeaseLost } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { Question, WalkRequest } from '../../impact/scan/scan-request.ts'
import type { Scanner } from '../../impact/scan/scanner.ts'
import { cohortQuestion } from '../cohort-query.ts'
import { countAnew } from '../create-cohort.ts'
import { recordCohort } from '../record-cohort.ts'
import type { CohortJob } from './cohort-job-store.ts'

interface CohortWorkOptions {
  readonly scanner: Scanner
  readonly now: () => Instant
  /** There is more to do than fits into one turn. */
  readonly onMore: () => void
}

/** A turn ends well before its lease does. */
const turnMilliseconds = 20_000
const savedEveryMilliseconds = 2000
const countedAnewAfterMilliseconds = 24 * 60 * 60 * 1000
const countedAnewAtOnceMax = 20
const retryMillisecondsMin = 5000
const retryMillisecondsMax = 60 * 60 * 1000

/** Counts dynamic cohorts and fills static ones. What a node that died left half done goes on where it was last saved. */
export function createCohortWork({ scanner, now, onMore }: CohortWorkOptions): Job {
  return {
    name: 'cohorts',
    async run(turn) {
      const end = monotonicNow() + turnMilliseconds
      await enqueueStaleCounts(turn, now())
      for (;;) {
        const job = await turn.read(tx => tx.cohortJobs.findDue(now()))
        if (!job) return
        if (monotonicNow() >= end) return onMore()
        try {
          await work(turn, job, end)
        } catch (error) {
          if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
          await putOff(turn, job, error)
        }
      }
    },
  }

  function work(turn: Turn, job: CohortJob, end: number): Promise<void> {
    if (job.task.kind === 'count') return count(turn, job, end)
    if (job.task.kind === 'fill') return fill(turn, job, job.task, end)
    return importIds(turn, job, end)
  }

  async function count(turn: Turn, job: CohortJob, end: number): Promise<void> {
    const asked = await turn.read(async tx => ({
      question: await cohortQuestion(tx, job.projectId, job.cohortId),
      total: await tx.persons.count(job.projectId),
    }))
    if (!asked.question) return dropJob(turn, job)
    let saved = monotonicNow()
    const at = new Date(now()).getTime()
    const last = await walkOn(job, asked.question, at, end, async (next, _on) => {
      if (monotonicNow() - saved < savedEveryMilliseconds) return true
      saved = monotonicNow()
      return turn.transaction(tx => tx.cohortJobs.advance({ ...next, total: asked.total }))
    })
    if (!last.isThrough) return saveForLater(turn, last.job)
    await turn.transaction(async tx => {
      if (!(await tx.cohortJobs.finish(job))) return
      await tx.cohorts.saveCalculation(job.cohortId, { count: last.job.matched, at: now(), error: null })
    })
  }

  async function fill(
    turn: Turn,
    job: CohortJob,
    task: CohortJob['task'] & { kind: 'fill' },
    end: number,
  ): Promise<void> {
    const question = { definitions: task.definitions, key: task.flagKey }
    const last = await walkOn(job, question, task.now, end, (next, on) =>
      turn.transaction(async tx => {
        if (!(await tx.cohortJobs.advance(next))) return false
        await tx.cohortMembers.add(job.projectId, job.cohortId, on)
        return true
      }),
    )
    if (last.isThrough) await finishFilling(turn, last.job, { added: last.job.matched })
  }

  async function importIds(turn: Turn, job: CohortJob, end: number): Promise<void> {
    let current = job
    while (monotonicNow() < end) {
      const next = await turn.transaction(tx => importPiece(tx, current))
      if (next === 'gone') return
      if (next === 'done') {
        const { processed, matched } = current
        return finishFilling(turn, current, { added: matched, unknown: processed - matched })
      }
      current = next
      await letOthersRun()
    }
  }

  /** From where the job stands, as long as `onStep` says so and there is time. */
  async function walkOn(
    job: CohortJob,
    question: Question,
    at: number,
    end: number,
    onStep: (next: CohortJob, on: readonly number[]) => Promise<boolean>,
  ): Promise<{ readonly job: CohortJob; readonly isThrough: boolean }> {
    const request: WalkRequest = {
      kind: 'walk',
      projectId: job.projectId,
      target: { kind: 'persons' },
      questions: [question],
      now: at,
      descending: false,
      after: job.position,
    }
    let current = job
    let isStopped = false
    await scanner.walk(request, new AbortController().signal, async ({ last, looked, on }) => {
      const { processed, matched } = current
      current = { ...current, position: last, processed: processed + looked, matched: matched + on.length }
      isStopped = !(await onStep(current, on)) || monotonicNow() >= end
      return !isStopped
    })
    return { job: current, isThrough: !isStopped }
  }

  async function finishFilling(turn: Turn, job: CohortJob, after: Readonly<Record<string, number>>): Promise<void> {
    const at = now()
    await turn.transaction(async tx => {
      const cohort = await tx.cohorts.find(job.projectId, job.cohortId)
      const project = await tx.projects.find(job.projectId)
      if (!(await tx.cohortJobs.finish(job)) || !cohort || !project) return
      await tx.cohorts.saveCalculation(job.cohortId, { count: cohort.calculation.count ?? 0, at, error: null })
      const changes = [{ action: 'changed', field: 'members', before: null, after }] as const
      await recordCohort(tx, null, project, cohort, { activity: 'updated', changes }, at)
    })
  }

  /** What failed is tried again, later each time. */
  async function putOff(turn: Turn, job: CohortJob, error: unknown): Promise<void> {
    const at = now()
    const wait = Math.min(retryMillisecondsMin * 2 ** job.attempts, retryMillisecondsMax)
    const message = error instanceof Problem ? error.message : 'Something went wrong; it will be tried again.'
    await turn.transaction(async tx => {
      await tx.cohortJobs.postpone(job, plusMilliseconds(at, wait))
      await tx.cohorts.saveCalculation(job.cohortId, { at, error: message })
    })
    if (!(error instanceof Problem)) throw error
  }
}

async function enqueueStaleCounts(turn: Turn, now: Instant): Promise<void> {
  const since = plusMilliseconds(now, -countedAnewAfterMilliseconds)
  const old = await turn.read(tx => tx.cohorts.listDynamicNotCounted(since, countedAnewAtOnceMax))
  if (old.length === 0) return
  await turn.transaction(async tx => {
    for (const cohortId of old) await countAnew(tx, cohortId, now)
  })
}

const saveForLater = async (turn: Turn, job: CohortJob): Promise<void> => {
  await turn.transaction(tx => tx.cohortJobs.advance(job))
}

const dropJob = async (turn: Turn, job: CohortJob): Promise<void> => {
  await turn.transaction(tx => tx.cohortJobs.finish(job))
}

type Tx = Parameters<Parameters<Turn['transaction']>[0]>[0]

/** All of a piece and its being done with, or nothing. */
async function importPiece(tx: Tx, job: CohortJob): Promise<CohortJob | 'done' | 'gone'> {
  const piece = await tx.cohortJobs.nextImport(job.cohortId)
  if (!piece) return 'done'
  const found = await tx.cohortMembers.findPersons(job.projectId, piece.distinctIds)
  await tx.cohortMembers.add(job.projectId, job.cohortId, [...new Set(found.values())])
  await tx.cohortJobs.removeImport(piece.id)
  const next = { ...job, processed: job.processed + piece.distinctIds.length, matched: job.matched + found.size }
  return (await tx.cohortJobs.advance(next)) ? next : 'gone'
}
