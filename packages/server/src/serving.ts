import { createDefinitions, type Definitions } from './api/sdk/definitions.ts'
import { createEvaluationCounts, type EvaluationCounts } from './api/sdk/evaluation-counts.ts'
import { createSdkAccess, type SdkAccess } from './api/sdk/sdk-access.ts'
import { createStreams, type Streams } from './api/streams/streams.ts'
import { createEvaluator, type Evaluator } from './evaluation/evaluator.ts'
import type { ProjectSource } from './evaluation/projects/project-source.ts'
import { storedProjects } from './evaluation/projects/stored-projects.ts'
import { createSnapshots, type Snapshots } from './evaluation/snapshots.ts'
import type { StoredSubjects } from './evaluation/subjects/gather-subject.ts'
import { storedSubjects } from './evaluation/subjects/stored-subjects.ts'
import { createFastPath, type FastPath } from './fast-path/fast-path.ts'
import { createRespondEvaluation, type RespondEvaluation } from './fast-path/respond-evaluation.ts'
import { type ActorCache, createActorCache } from './features/identity/actor-cache.ts'
import { currentProject } from './features/identity/authenticator.ts'
import type { IdentityStore } from './features/identity/identity-store.ts'
import type { Instant } from './instant.ts'
import { type BodyMemoryBudget, createBodyMemoryBudget } from './overload/body-memory-budget.ts'
import { missing } from './problem.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import type { Database } from './stores.ts'
import type { Actor } from './tenancy.ts'

/** Everything that answers evaluations from memory, put together. */
export interface Serving {
  readonly snapshots: Snapshots
  readonly actors: ActorCache
  readonly evaluator: Evaluator
  readonly answerEvaluation: RespondEvaluation
  readonly definitions: Definitions
  readonly access: SdkAccess
  readonly streams: Streams
  readonly counts: EvaluationCounts
  readonly fastPath: FastPath
  /** For large request bodies, whoever sends them. */
  readonly bodyMemory: BodyMemoryBudget
  /** From now on answers ask clients to open a new connection, elsewhere. */
  beginClosing(): void
  close(): void
}

/** Where everything that is served comes from. */
export interface ServingSource {
  readonly projects: ProjectSource
  readonly subjects: StoredSubjects
  /** The person and the key behind a key's hash. Raises `unavailable`. */
  readonly findActor: IdentityStore['findActor']
  /** The project that a person works in. Raises `missing`. */
  readonly currentProjectOf: (actor: Actor) => Promise<{ readonly id: number }>
  readonly changes: Pick<ChangeFeed, 'subscribe'>
}

/** All of it from the database. */
export const storedSource = (database: Database, changes: ChangeFeed): ServingSource => ({
  projects: storedProjects(database),
  subjects: storedSubjects(database),
  findActor: hash => database.read(tx => tx.identity.findActor(hash)),
  currentProjectOf: rememberedPlace(database),
  changes,
})

interface Deps {
  readonly source: ServingSource
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
  readonly limits?: ServingLimits
  readonly bodiesBytesMax: number
}

/** What one process holds for its clients. */
export interface ServingLimits {
  readonly servedBytesMax: number
  readonly streamsMax: number
  readonly streamsPerProjectMax: number
}

export function createServing({ source, now, onError, limits, bodiesBytesMax }: Deps): Serving {
  const { changes, currentProjectOf } = source
  const snapshots = createSnapshots({
    source: source.projects,
    changes,
    ...(limits && { bytesMax: limits.servedBytesMax }),
  })
  const actors = createActorCache(source.findActor, changes, now)
  const counts = createEvaluationCounts()
  const evaluator = createEvaluator(source.subjects)
  const answerEvaluation = createRespondEvaluation({ snapshots, evaluator, counts })
  const definitions = createDefinitions()
  const access = createSdkAccess({ snapshots, actors, currentProjectOf })
  const streams = createStreams({ snapshots, definitions, ...(limits && { limits }) })
  const bodyMemory = createBodyMemoryBudget(bodiesBytesMax)
  let isClosing = false
  return {
    bodyMemory,
    snapshots,
    actors,
    evaluator,
    counts,
    answerEvaluation,
    definitions,
    access,
    streams,
    fastPath: createFastPath({
      answerEvaluation,
      knownDefinitions(key, token, withCohorts) {
        const served = access.knownToDefinitions(key, token)
        return served && definitions.bodyOf(served, withCohorts)
      },
      counts,
      bodyMemory,
      isClosing: () => isClosing,
      onError,
    }),
    beginClosing() {
      isClosing = true
    },
    close() {
      streams.close()
      snapshots.close()
      actors.close()
    },
  }
}

/** Remembered as long as the actor is: choosing another project makes a new one. */
function rememberedPlace(database: Database) {
  const places = new WeakMap<Actor, { readonly id: number }>()
  return async (actor: Actor) => {
    const place = places.get(actor) ?? (await database.read(tx => currentProject(tx.projects, actor)))
    if (!place) throw missing('Project')
    places.set(actor, place)
    return place
  }
}
