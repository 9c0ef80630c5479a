import { createDefinitions, type Definitions } from './api/sdk/definitions.ts'
import { createEvaluationCounts, type EvaluationCounts } from './api/sdk/evaluation-counts.ts'
import { createSdkAccess, type SdkAccess } from './api/sdk/sdk-access.ts'
import { createSdkEvaluation, type SdkEvaluation } from './api/sdk/sdk-evaluation.ts'
import { createStreams, type Streams } from './api/streams/streams.ts'
import type { FindCountedEvents } from './domain/counted-event.ts'
import { createEvaluator, type Evaluator } from './evaluation/evaluator.ts'
import type { ProjectSource } from './evaluation/projects/project-source.ts'
import type { ReadOverrides } from './evaluation/projects/signed-overrides.ts'
import { storedProjects } from './evaluation/projects/stored-projects.ts'
import { createRequestOverrides, type RequestOverrides } from './evaluation/request-overrides.ts'
import { createSnapshots, type Snapshots } from './evaluation/snapshots.ts'
import { cachedSubjects } from './evaluation/subjects/cached-subjects.ts'
import type { StoredSubjects } from './evaluation/subjects/gather-subject.ts'
import { storedSubjects } from './evaluation/subjects/stored-subjects.ts'
import { type ActorCache, createActorCache } from './features/identity/actor-cache.ts'
import { currentProject } from './features/identity/authenticator.ts'
import type { IdentityStore } from './features/identity/identity-store.sql.ts'
import { createSdkCalls, type SdkCalls } from './features/sdk-usage/sdk-calls.ts'
import { createStreamGuard, type StreamGuard } from './http/routes/stream-guard.ts'
import type { Instant } from './instant.ts'
import { type BodyMemoryBudget, createBodyMemoryBudget } from './overload/body-memory-budget.ts'
import { missing } from './problem.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import { createProjectCache } from './storage/changes/invalidated-cache.ts'
import type { Database } from './stores.ts'
import type { AcceptsToken, Actor } from './tenancy.ts'

/** Everything that evaluates from memory, for the ordinary routes and the evaluation handler. */
export interface Serving {
  readonly snapshots: Snapshots
  readonly actors: ActorCache
  readonly evaluator: Evaluator
  readonly evaluation: SdkEvaluation
  readonly definitions: Definitions
  readonly access: SdkAccess
  readonly streams: Streams
  readonly streamGuard: StreamGuard
  readonly counts: EvaluationCounts
  readonly sdkCalls: SdkCalls
  readonly overrides: RequestOverrides
  /** For large request bodies of all clients. */
  readonly bodyMemory: BodyMemoryBudget
  /** From now on responses ask clients to open a new connection, elsewhere. */
  beginClosing(): void
  isClosing(): boolean
  close(): void
}

/** Where everything that is served is read from. */
export interface ServingSource {
  readonly projects: ProjectSource
  readonly subjects: StoredSubjects
  /** The user and the key of a key's hash. Raises `unavailable`. */
  readonly findActor: IdentityStore['findActor']
  /** The project that a user works in. Raises `missing`. */
  readonly currentProjectOf: (actor: Actor) => Promise<{ readonly id: number }>
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** Without it, requests cannot override values. */
  readonly readOverrides?: ReadOverrides
  /** Default: only the tokens of the project. */
  readonly acceptsToken?: AcceptsToken
}

/** All of it from the database. */
export const storedSource = (database: Database, changes: ChangeFeed, personChanges = changes): ServingSource => ({
  projects: storedProjects(database),
  subjects: cachedSubjects(storedSubjects(database, cachedCountedEvents(database, changes)), personChanges),
  findActor: hash => database.read(tx => tx.identity.findActor(hash)),
  currentProjectOf: cachedCurrentProject(database),
  changes,
})

/** In memory, so that a lookup of a person needs nothing but the persons. They change when cohorts do. */
function cachedCountedEvents(database: Database, changes: ChangeFeed): FindCountedEvents {
  const cache = createProjectCache<{ readonly projectId: number; readonly events: CountedEvents }>({
    changes,
    sizeMax: countedProjectsMax,
    isConcerned: ({ topic }) => topic === 'cohort' || topic === 'project',
    projectOf: ({ projectId }) => projectId,
  })
  const read = async (projectId: number) => ({
    projectId,
    events: await database.query(tx => tx.countedEvents.listLive(projectId)),
  })
  return async projectId => (await cache.get(String(projectId), () => read(projectId)))!.events
}

type CountedEvents = Awaited<ReturnType<FindCountedEvents>>
const countedProjectsMax = 10_000

interface Deps {
  readonly source: ServingSource
  readonly now: () => Instant
  readonly limits?: ServingLimits
  /** A changed project could not be read again; the version in memory is served on. */
  readonly onRefreshFailed?: () => void
  readonly bodiesBytesMax: number
}

/** What one process holds for its clients. */
export interface ServingLimits {
  readonly servedBytesMax: number
  readonly streamsMax: number
  readonly streamsPerProjectMax: number
}

export function createServing({ source, now, limits, onRefreshFailed, bodiesBytesMax }: Deps): Serving {
  const { changes, currentProjectOf, acceptsToken } = source
  const snapshots = createSnapshots({
    source: source.projects,
    changes,
    ...(onRefreshFailed && { onRefreshFailed }),
    ...(acceptsToken && { acceptsToken }),
    ...(limits && { bytesMax: limits.servedBytesMax }),
  })
  const actors = createActorCache(source.findActor, changes, now)
  const counts = createEvaluationCounts()
  const sdkCalls = createSdkCalls()
  const evaluator = createEvaluator(source.subjects)
  const overrides = createRequestOverrides(source.readOverrides)
  const evaluation = createSdkEvaluation({ snapshots, evaluator, counts, overrides })
  const definitions = createDefinitions()
  const access = createSdkAccess({ snapshots, actors, currentProjectOf, ...(acceptsToken && { acceptsToken }) })
  const streams = createStreams({ snapshots, definitions, ...(limits && { limits }) })
  const streamGuard = createStreamGuard(changes)
  const bodyMemory = createBodyMemoryBudget(bodiesBytesMax)
  let isClosing = false
  return {
    bodyMemory,
    snapshots,
    actors,
    evaluator,
    counts,
    sdkCalls,
    overrides,
    evaluation,
    definitions,
    access,
    streams,
    streamGuard,
    isClosing: () => isClosing,
    beginClosing() {
      isClosing = true
    },
    close() {
      streams.close()
      streamGuard.close()
      snapshots.close()
      actors.close()
    },
  }
}

/** Cached as long as the actor is: switching projects creates a new one. */
function cachedCurrentProject(database: Database) {
  const projects = new WeakMap<Actor, { readonly id: number }>()
  return async (actor: Actor) => {
    const project = projects.get(actor) ?? (await database.read(tx => currentProject(tx.projects, actor)))
    if (!project) throw missing('Project')
    projects.set(actor, project)
    return project
  }
}
