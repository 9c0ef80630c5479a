import type { ChangeFeed } from './changes.ts'
import { createEvaluator, type Evaluator } from './evaluation/evaluator.ts'
import { createSnapshots, type Snapshots, type SnapshotsOptions } from './evaluation/snapshots.ts'
import { storedSubjects } from './evaluation/stored-subjects.ts'
import { createGate } from './identity/gate.ts'
import { createKnownActors } from './identity/known-actors.ts'
import type { Instant } from './instant.ts'
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
  readonly evaluator: Evaluator
  readonly answerEvaluation: AnswerEvaluation
  readonly definitions: Definitions
  readonly access: SdkAccess
  readonly streams: Streams
  readonly counts: EvaluationCounts
  /** Sees every request before the router does. */
  readonly takeFirst: FastLane
  /** From now on answers ask clients to open a new connection, elsewhere. */
  beginClosing(): void
  close(): void
}

interface Deps {
  readonly database: Database
  readonly changes: ChangeFeed
  readonly listCohorts: SnapshotsOptions['listCohorts']
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
}

export function createServing({ database, changes, listCohorts, now, onError }: Deps): Serving {
  const snapshots = createSnapshots({ database, changes, listCohorts })
  const actors = createKnownActors(database, changes, now)
  const counts = createEvaluationCounts()
  const evaluator = createEvaluator(storedSubjects(database))
  const answerEvaluation = createAnswerEvaluation({ snapshots, evaluator, counts })
  const definitions = createDefinitions()
  const access = createSdkAccess({ snapshots, actors, currentProjectOf: rememberedPlace(database, now) })
  const streams = createStreams({ snapshots, definitions })
  let isClosing = false
  return {
    snapshots,
    evaluator,
    counts,
    answerEvaluation,
    definitions,
    access,
    streams,
    takeFirst: createFastLane({
      answerEvaluation,
      knownDefinitions(key, token, withCohorts) {
        const served = access.knownToDefinitions(key, token)
        return served && definitions.bodyOf(served, withCohorts)
      },
      counts,
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
function rememberedPlace(database: Database, now: () => Instant) {
  const gate = createGate(database, now)
  const places = new WeakMap<Actor, { readonly id: number }>()
  return async (actor: Actor) => {
    const place = places.get(actor) ?? (await gate.projectFor(actor, '@current', undefined))
    places.set(actor, place)
    return place
  }
}
