import type { ChangeFeed } from './changes.ts'
import { createEvaluator, type Evaluator } from './evaluation/evaluator.ts'
import type { StoredSubjects } from './evaluation/gather-subject.ts'
import type { ProjectSource } from './evaluation/project-source.ts'
import { createSnapshots, type Snapshots } from './evaluation/snapshots.ts'
import { storedProjects } from './evaluation/stored-projects.ts'
import { storedSubjects } from './evaluation/stored-subjects.ts'
import { type BodyRoom, createBodyRoom } from './http/body-room.ts'
import { currentProject } from './identity/gate.ts'
import type { IdentityStore } from './identity/identity-store.ts'
import { createKnownActors, type KnownActors } from './identity/known-actors.ts'
import type { Instant } from './instant.ts'
import { missing } from './problem.ts'
import { type AnswerEvaluation, createAnswerEvaluation } from './sdk/answer-evaluation.ts'
import { createDefinitions, type Definitions } from './sdk/definitions.ts'
import { createEvaluationCounts, type EvaluationCounts } from './sdk/evaluation-counts.ts'
import { createFastLane, type FastLane } from './sdk/fast-lane.ts'
import { createSdkAccess, type SdkAccess } from './sdk/sdk-access.ts'
import type { Database } from './stores.ts'
import { createStreams, type Streams } from './streams/streams.ts'
import type { Actor } from './tenancy.ts'

/** Everything that answers evaluations from memory, put together. */
export interface Serving {
  readonly snapshots: Snapshots
  readonly actors: KnownActors
  readonly evaluator: Evaluator
  readonly answerEvaluation: AnswerEvaluation
  readonly definitions: Definitions
  readonly access: SdkAccess
  readonly streams: Streams
  readonly counts: EvaluationCounts
  readonly fastLane: FastLane
  /** For large request bodies, whoever sends them. */
  readonly bodyRoom: BodyRoom
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
  const actors = createKnownActors(source.findActor, changes, now)
  const counts = createEvaluationCounts()
  const evaluator = createEvaluator(source.subjects)
  const answerEvaluation = createAnswerEvaluation({ snapshots, evaluator, counts })
  const definitions = createDefinitions()
  const access = createSdkAccess({ snapshots, actors, currentProjectOf })
  const streams = createStreams({ snapshots, definitions, ...(limits && { limits }) })
  const bodyRoom = createBodyRoom(bodiesBytesMax)
  let isClosing = false
  return {
    bodyRoom,
    snapshots,
    actors,
    evaluator,
    counts,
    answerEvaluation,
    definitions,
    access,
    streams,
    fastLane: createFastLane({
      answerEvaluation,
      knownDefinitions(key, token, withCohorts) {
        const served = access.knownToDefinitions(key, token)
        return served && definitions.bodyOf(served, withCohorts)
      },
      counts,
      bodyRoom,
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
