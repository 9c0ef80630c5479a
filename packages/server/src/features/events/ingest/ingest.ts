import { behaviorsIn, type CohortDefinition } from '@halyard/engine'
import type { IncomingEvent } from '../../../domain/event.ts'
import type { Flag } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { createDefinitionRecorder } from '../../definitions/definition-recorder.ts'
import type { EventPipeline } from '../event-pipeline.ts'
import { readEvents } from '../read-events.ts'
import { type ProjectEvents, type Recorded, recordEvents } from '../record-events.ts'
import { updatesProfiles } from '../update-profiles.ts'
import { type CountedFlags, countedFlags } from '../usage/counted-flags.ts'
import { type Tally, tally } from '../usage/tally.ts'
import { createIngestQueue, type QueuedBatch } from './ingest-queue.ts'

/** What ingest needs of a project. */
export interface IngestProject {
  readonly project: Project
  readonly flags: ReadonlyMap<number, Flag>
  readonly cohorts: readonly CohortDefinition[]
}

export type DropReason = 'malformed' | 'plugin' | 'overload'

/** Observes what happens to events, for metrics and the log. */
export interface IngestObserver {
  received(events: number): void
  dropped(reason: DropReason, events: number): void
  committed(events: number, seconds: number, recorded: Recorded, uncounted: Tally['uncounted']): void
}

export interface IngestOptions {
  readonly database: Database
  readonly findProject: (token: string) => Promise<IngestProject | undefined>
  readonly pipeline: EventPipeline
  readonly observer: IngestObserver
  readonly now: () => Instant
  /** Further names under which an event is counted, for metrics that depend on more than the event name. */
  readonly labelsOf?: (project: Project, event: IncomingEvent) => readonly string[]
  /** Observes the libraries that send events. */
  readonly noteLibrary?: (projectId: number, library: unknown, version: unknown) => void
  readonly eventsWaitingMax?: number
  /** Applies the changes of other nodes. */
  readonly catchUp?: () => Promise<void>
}

/** Receives the events of SDKs. */
export interface EventReceiver {
  /**
   * Resolves when every event of the body is durable or counted as dropped. Throws `unauthenticated`, `invalid`, `too_large` or
   * `unavailable`: then nothing is acknowledged and the client should retry.
   */
  receive(body: unknown, path: string, ip: string | null): Promise<void>
}

export interface Ingest extends EventReceiver {
  /**
   * Receives batches that edges forward. Idempotent: a batch id that was recorded before is not recorded again. Never drops events under
   * overload, since an edge retains what is not acknowledged. Throws `unavailable`.
   */
  receiveBatches(batches: readonly IdentifiedBatch[]): Promise<void>
  readonly waiting: number
  /** Resolves when every received event is written. */
  drained(): Promise<void>
}

export interface IdentifiedBatch {
  readonly id: string
  readonly served: IngestProject
  readonly events: readonly IncomingEvent[]
}

interface Batch extends QueuedBatch {
  readonly served: IngestProject
  readonly events: readonly IncomingEvent[]
  /** Idempotency key. */
  readonly id?: string
}

const eventsWaitingMaxDefault = 20_000
const projectShareMax = 0.9
const eventsWrittenAtOnceMax = 1000
const withPersons = { withPersons: true }
const nameCacheMilliseconds = 60 * 60 * 1000

export function createIngest(options: IngestOptions): Ingest {
  const { database, findProject, pipeline, observer, now, labelsOf = () => [] } = options
  const eventsWaitingMax = options.eventsWaitingMax ?? eventsWaitingMaxDefault
  const projectWaitingMax = Math.floor(eventsWaitingMax * projectShareMax)
  const waitingOf = new Map<number, number>()
  const namesOf = createNameCache()
  const flagsOf = createFlagCache()
  const namedBy = createNamedEventCache()
  const definitions = createDefinitionRecorder()
  const queue = createIngestQueue<Batch>({
    write,
    waitingMax: eventsWaitingMax,
    writtenAtOnceMax: eventsWrittenAtOnceMax,
  })

  async function write(batches: readonly Batch[]): Promise<void> {
    const time = now()
    const startedAt = performance.now()
    const whole = workOf(batches, time)
    const recorded = await database.transaction(async tx => {
      const fresh = await claimNewBatches(tx.receivedBatches, batches, time)
      const unseen = database.people.isSeparate ? await claimNewBatches(tx.people.receivedBatches, fresh, time) : fresh
      const profiles = unseen === fresh ? undefined : eventsByProject(unseen)
      const outcomes: { readonly one: ProjectEvents; readonly outcome: Recorded; readonly done: () => void }[] = []
      for (const one of fresh === batches ? whole : workOf(fresh, time)) {
        const outcome = await recordEvents(tx, one, profiles?.get(one.project.id) ?? (profiles ? [] : one.events), time)
        const learned = await definitions.record(tx, one.project, one.events, time)
        const deliver = await pipeline.keep(tx, one.project, one.events, time)
        outcomes.push({
          one,
          outcome,
          done() {
            learned()
            deliver()
          },
        })
      }
      return outcomes
    }, withPersons)
    // Another node may have deleted what is created again here, which announces nothing. The next poll makes up for a failure.
    await options.catchUp?.().catch(() => {})
    const seconds = (performance.now() - startedAt) / 1000
    for (const { one, outcome, done } of recorded) {
      observer.committed(one.events.length, seconds, outcome, one.tally.uncounted)
      done()
    }
  }

  const workOf = (batches: readonly Batch[], time: Instant): readonly ProjectEvents[] =>
    byProject(batches).map(({ served, events }): ProjectEvents => {
      const { project } = served
      const counting = { projectId: project.id, flags: flagsOf(served), names: namesOf(project.id), now: time }
      return { project, events, tally: tally({ ...counting, events, labelsOf: event => labelsOf(project, event) }) }
    })

  async function transformed(project: Project, events: readonly IncomingEvent[]): Promise<readonly IncomingEvent[]> {
    if (!pipeline.handles(project)) return events
    const kept: IncomingEvent[] = []
    for (const event of events) {
      const next = await pipeline.transform(project, event)
      if (next) kept.push(next)
    }
    if (kept.length < events.length) observer.dropped('plugin', events.length - kept.length)
    return kept
  }

  /**
   * Under overload, drops events that are only counted for statistics; those that update profiles or that cohorts name are stored or
   * rejected, never dropped.
   */
  function shedCountedEvents({ cohorts }: IngestProject, events: readonly IncomingEvent[]): readonly IncomingEvent[] {
    if (queue.waiting + events.length <= eventsWaitingMax / 2) return events
    const named = namedBy(cohorts)
    const kept = events.filter(event => updatesProfiles(event) || named.has(event.name))
    if (kept.length < events.length) observer.dropped('overload', events.length - kept.length)
    return kept
  }

  /** One project cannot fill the whole queue, so that it cannot block the others. */
  async function withinProjectLimit(projectId: number, events: number, work: () => Promise<void>): Promise<void> {
    const before = waitingOf.get(projectId) ?? 0
    if (before > 0 && before + events > projectWaitingMax) throw tooManyWaiting(projectWaitingMax)
    waitingOf.set(projectId, before + events)
    try {
      await work()
    } finally {
      const after = (waitingOf.get(projectId) ?? 0) - events
      if (after > 0) waitingOf.set(projectId, after)
      else waitingOf.delete(projectId)
    }
  }

  /** Whether a write failed since the project was deleted after its events were accepted into the queue. */
  async function isDeleted(token: string, error: unknown): Promise<boolean> {
    // A project that is gone is a conflict for the database.
    if (error instanceof Problem && error.kind !== 'conflict') return false
    await options.catchUp?.().catch(() => {})
    return (await findProject(token).catch(() => null)) === undefined
  }

  return {
    async receive(body, path, ip) {
      const { token, events, malformed } = readEvents(body, { path, ip, now: now() })
      const served = await findProject(token)
      if (!served) throw noSuchProject()
      const { $lib, $lib_version } = events[0]?.properties ?? {}
      options.noteLibrary?.(served.project.id, $lib, $lib_version)
      observer.received(events.length + malformed)
      if (malformed > 0) observer.dropped('malformed', malformed)
      const kept = shedCountedEvents(served, await transformed(served.project, events))
      const batches = [...inParts(kept, eventsWrittenAtOnceMax)].map(part => ({
        served,
        events: part,
        size: part.length,
      }))
      try {
        await withinProjectLimit(served.project.id, kept.length, () =>
          allSettledOrThrow(batches.map(batch => queue.submit(batch))),
        )
      } catch (error) {
        throw (await isDeleted(token, error)) ? noSuchProject() : error
      }
    },
    async receiveBatches(batches) {
      // Plugins do not see recorded batches again. Concurrent duplicates are detected in the write transaction.
      const recordedIds = await database.read(tx => tx.receivedBatches.findRecorded(batches.map(({ id }) => id)))
      const submitted: Promise<void>[] = []
      for (const { id, served, events } of batches.filter(({ id }) => !recordedIds.has(id))) {
        observer.received(events.length)
        const kept = await transformed(served.project, events)
        submitted.push(queue.submit({ served, events: kept, size: kept.length, id }))
      }
      await allSettledOrThrow(submitted)
    },
    get waiting() {
      return queue.waiting
    },
    drained: () => queue.drained(),
  }
}

/** Stores the ids of the batches and returns only those that were not stored before. */
async function claimNewBatches(
  received: Stores['receivedBatches'],
  batches: readonly Batch[],
  time: Instant,
): Promise<readonly Batch[]> {
  if (batches.every(({ id }) => id === undefined)) return batches
  const fresh: Batch[] = []
  for (const batch of batches) {
    if (batch.id === undefined || (await received.add(batch.id, time))) fresh.push(batch)
  }
  return fresh
}

const eventsByProject = (batches: readonly Batch[]): ReadonlyMap<number, readonly IncomingEvent[]> =>
  new Map(byProject(batches).map(({ served, events }) => [served.project.id, events]))

const noSuchProject = (): Problem => new Problem('unauthenticated', 'No project has this token.')

const tooManyWaiting = (max: number): Problem =>
  new Problem(
    'unavailable',
    `This project has ${max} events queued, its limit (90 % of HALYARD_EVENTS_WAITING_MAX); nothing was stored. Retry later.`,
    { retryAfterSeconds: 1 },
  )

/** Waits for all of them before it throws, so that no write of a request is still in progress when it is responded to. */
async function allSettledOrThrow(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Sorted by project id, so that two nodes take locks in the same order and cannot deadlock. */
function byProject(batches: readonly Batch[]): readonly { served: IngestProject; events: readonly IncomingEvent[] }[] {
  const projects = new Map<number, { served: IngestProject; events: IncomingEvent[] }>()
  for (const { served, events } of batches) {
    const earlier = projects.get(served.project.id)
    // The newest batch has the most recent project.
    projects.set(served.project.id, { served, events: earlier ? [...earlier.events, ...events] : [...events] })
  }
  return [...projects].sort(([a], [b]) => a - b).map(([, one]) => one)
}

function createFlagCache(): (served: IngestProject) => CountedFlags {
  const cached = new WeakMap<IngestProject['flags'], CountedFlags>()
  return ({ flags }) => {
    const counted = cached.get(flags) ?? countedFlags(flags.values())
    cached.set(flags, counted)
    return counted
  }
}

/** The events that behavioral filters of cohorts name. */
function createNamedEventCache(): (cohorts: IngestProject['cohorts']) => ReadonlySet<string> {
  const cached = new WeakMap<IngestProject['cohorts'], ReadonlySet<string>>()
  return cohorts => {
    const dynamic = () => cohorts.filter(({ isStatic }) => !isStatic)
    const names =
      cached.get(cohorts) ?? new Set(dynamic().flatMap(({ filters }) => behaviorsIn(filters).map(({ event }) => event)))
    cached.set(cohorts, names)
    return names
  }
}

/** The event names of each project. Cleared every hour so that unused names do not count toward the limit. */
function createNameCache(): (projectId: number) => Set<string> {
  const cached = new Map<number, Set<string>>()
  let clearedAt = Date.now()
  return projectId => {
    if (Date.now() - clearedAt > nameCacheMilliseconds) {
      cached.clear()
      clearedAt = Date.now()
    }
    const names = cached.get(projectId) ?? new Set<string>()
    cached.set(projectId, names)
    return names
  }
}
