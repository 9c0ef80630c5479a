import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import type { Flag } from '../../flags/flag.ts'
import type { IncomingEvent } from '../event.ts'
import type { EventPipeline } from '../event-pipeline.ts'
import { readEvents } from '../read-events.ts'
import { type ProjectEvents, type Recorded, recordEvents } from '../record-events.ts'
import { updatesProfiles } from '../update-profiles.ts'
import { type CountedFlags, countedFlags } from '../usage/counted-flags.ts'
import { type Tally, tally } from '../usage/tally.ts'
import { createIngestQueue, type QueuedBatch } from './ingest-queue.ts'

/** A project as far as its events are concerned. */
export interface IngestProject {
  readonly project: Project
  readonly flags: ReadonlyMap<number, Flag>
}

export type DropReason = 'malformed' | 'plugin' | 'overload'

/** Told of everything that happens to events, for metrics and the log. */
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
  /** Further names under which an event is counted, for metrics that look at more than the name. */
  readonly labelsOf?: (project: Project, event: IncomingEvent) => readonly string[]
  readonly eventsWaitingMax?: number
}

/** Where client libraries' events go. */
export interface EventReceiver {
  /**
   * Resolves when everything in the body is durable, or counted as dropped. Raises `unauthenticated`, `invalid`, `too_large`, or
   * `unavailable`: then nothing is acknowledged and the client should send it again.
   */
  receive(body: unknown, path: string, ip: string | null): Promise<void>
}

export interface Ingest extends EventReceiver {
  /**
   * The same for events that edges have taken, under ids: what was recorded under an id before is not recorded again. Nothing is dropped for
   * lack of room, since an edge keeps what is not acknowledged. Raises `unavailable`.
   */
  receiveBatches(batches: readonly IdentifiedBatch[]): Promise<void>
  readonly waiting: number
  /** Resolves when everything received is written. */
  drained(): Promise<void>
}

export interface IdentifiedBatch {
  readonly id: string
  readonly found: IngestProject
  readonly events: readonly IncomingEvent[]
}

interface Batch extends QueuedBatch {
  readonly found: IngestProject
  readonly events: readonly IncomingEvent[]
  /** Under which it is recorded once. */
  readonly id?: string
}

const eventsWaitingMaxDefault = 20_000
const projectShareMax = 0.9
const eventsWrittenAtOnceMax = 1000
const namesForgottenMilliseconds = 60 * 60 * 1000

export function createIngest(options: IngestOptions): Ingest {
  const { database, findProject, pipeline, observer, now, labelsOf = () => [] } = options
  const eventsWaitingMax = options.eventsWaitingMax ?? eventsWaitingMaxDefault
  const projectWaitingMax = Math.floor(eventsWaitingMax * projectShareMax)
  const waitingOf = new Map<number, number>()
  const namesOf = createNameMemory()
  const flagsOf = createFlagMemory()
  const queue = createIngestQueue<Batch>({
    write,
    waitingMax: eventsWaitingMax,
    writtenAtOnceMax: eventsWrittenAtOnceMax,
  })

  async function write(batches: readonly Batch[]): Promise<void> {
    const time = now()
    const begun = performance.now()
    const whole = workOf(batches, time)
    const recorded = await database.transaction(async tx => {
      const fresh = await notRecordedYet(tx, batches, time)
      const outcomes: { readonly one: ProjectEvents; readonly outcome: Recorded; readonly tell: () => void }[] = []
      for (const one of fresh === batches ? whole : workOf(fresh, time)) {
        const outcome = await recordEvents(tx, one, time)
        outcomes.push({ one, outcome, tell: await pipeline.keep(tx, one.project, one.events, time) })
      }
      return outcomes
    })
    const seconds = (performance.now() - begun) / 1000
    for (const { one, outcome, tell } of recorded) {
      observer.committed(one.events.length, seconds, outcome, one.tally.uncounted)
      tell()
    }
  }

  const workOf = (batches: readonly Batch[], time: Instant): readonly ProjectEvents[] =>
    byProject(batches).map(({ found, events }): ProjectEvents => {
      const { project } = found
      const counting = { projectId: project.id, flags: flagsOf(found), names: namesOf(project.id), now: time }
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

  /** When storing cannot keep up, what is only counted goes first; what updatesProfiles about people and groups is kept or refused. */
  function affordable(events: readonly IncomingEvent[]): readonly IncomingEvent[] {
    if (queue.waiting + events.length <= eventsWaitingMax / 2) return events
    const kept = events.filter(updatesProfiles)
    if (kept.length < events.length) observer.dropped('overload', events.length - kept.length)
    return kept
  }

  /** One project may not have all of what may wait, so that it cannot shut the others out. */
  async function waitingFor(projectId: number, events: number, work: () => Promise<void>): Promise<void> {
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

  return {
    async receive(body, path, ip) {
      const { token, events, malformed } = readEvents(body, { path, ip, now: now() })
      const found = await findProject(token)
      if (!found) throw new Problem('unauthenticated', 'No project has this token.')
      observer.received(events.length + malformed)
      if (malformed > 0) observer.dropped('malformed', malformed)
      const kept = affordable(await transformed(found.project, events))
      const batches = [...inParts(kept, eventsWrittenAtOnceMax)].map(part => ({
        found,
        events: part,
        size: part.length,
      }))
      await waitingFor(found.project.id, kept.length, () =>
        allSettledOrThrow(batches.map(batch => queue.submit(batch))),
      )
    },
    async receiveBatches(batches) {
      // Plugins need not see again what has been recorded; what comes twice at the same time is told apart when it is written.
      const known = await database.read(tx => tx.receivedBatches.known(batches.map(({ id }) => id)))
      const submitted: Promise<void>[] = []
      for (const { id, found, events } of batches.filter(({ id }) => !known.has(id))) {
        observer.received(events.length)
        const kept = await transformed(found.project, events)
        submitted.push(queue.submit({ found, events: kept, size: kept.length, id }))
      }
      await allSettledOrThrow(submitted)
    },
    get waiting() {
      return queue.waiting
    },
    drained: () => queue.drained(),
  }
}

/** Notes the ids of the batches, and leaves out those that were noted before. */
async function notRecordedYet(tx: Stores, batches: readonly Batch[], time: Instant): Promise<readonly Batch[]> {
  if (batches.every(({ id }) => id === undefined)) return batches
  const fresh: Batch[] = []
  for (const batch of batches) {
    if (batch.id === undefined || (await tx.receivedBatches.add(batch.id, time))) fresh.push(batch)
  }
  return fresh
}

const tooManyWaiting = (max: number): Problem =>
  new Problem(
    'unavailable',
    `More than ${max} events of this project are waiting to be stored (nine tenths of HALYARD_EVENTS_WAITING_MAX); nothing of this was kept.`,
    { retryAfterSeconds: 1 },
  )

/** Waits for all of them before it fails, so that nothing of a request is still being written when it is answered. */
async function allSettledOrThrow(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** By project in the order of ids, so that two nodes wait for each other instead of locking each other out. */
function byProject(batches: readonly Batch[]): readonly { found: IngestProject; events: readonly IncomingEvent[] }[] {
  const projects = new Map<number, { found: IngestProject; events: IncomingEvent[] }>()
  for (const { found, events } of batches) {
    const known = projects.get(found.project.id)
    // The newest batch knows the project best.
    projects.set(found.project.id, { found, events: known ? [...known.events, ...events] : [...events] })
  }
  return [...projects].sort(([a], [b]) => a - b).map(([, one]) => one)
}

/** What is prepared for a project's flags lasts as long as the flags do. */
function createFlagMemory(): (found: IngestProject) => CountedFlags {
  const known = new WeakMap<IngestProject['flags'], CountedFlags>()
  return ({ flags }) => {
    const counted = known.get(flags) ?? countedFlags(flags.values())
    known.set(flags, counted)
    return counted
  }
}

/** The event names of each project, forgotten now and then so that names out of use make room. */
function createNameMemory(): (projectId: number) => Set<string> {
  const known = new Map<number, Set<string>>()
  let forgottenAt = Date.now()
  return projectId => {
    if (Date.now() - forgottenAt > namesForgottenMilliseconds) {
      known.clear()
      forgottenAt = Date.now()
    }
    const names = known.get(projectId) ?? new Set<string>()
    known.set(projectId, names)
    return names
  }
}
