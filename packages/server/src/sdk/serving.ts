import type { ChangeFeed } from '../changes.ts'
import { createEvaluator, type Evaluator } from '../evaluation/evaluator.ts'
import { createSnapshots, type Snapshots, type SnapshotsOptions } from '../evaluation/snapshots.ts'
import { storedSubjects } from '../evaluation/stored-subjects.ts'
import { createGate } from '../identity/gate.ts'
import { createKnownActors } from '../identity/known-actors.ts'
import type { Instant } from '../instant.ts'
import type { Database } from '../stores.ts'
import type { Actor } from '../tenancy.ts'
import { type AnswerEvaluation, createAnswerEvaluation } from './answer-evaluation.ts'
import { createDefinitions, type Definitions } from './definitions.ts'
import { createEvaluationCounts, type EvaluationCounts } from './evaluation-counts.ts'
import { createSdkAccess, type SdkAccess } from './sdk-access.ts'

/** Everything that answers evaluations from memory, put together. */
export interface Serving {
  readonly snapshots: Snapshots
  readonly evaluator: Evaluator
  readonly answerEvaluation: AnswerEvaluation
  readonly definitions: Definitions
  readonly access: SdkAccess
  readonly counts: EvaluationCounts
  close(): void
}

interface Deps {
  readonly database: Database
  readonly changes: ChangeFeed
  readonly listCohorts: SnapshotsOptions['listCohorts']
  readonly now: () => Instant
}

export function createServing({ database, changes, listCohorts, now }: Deps): Serving {
  const snapshots = createSnapshots({ database, changes, listCohorts })
  const actors = createKnownActors(database, changes, now)
  const counts = createEvaluationCounts()
  const evaluator = createEvaluator(storedSubjects(database))
  return {
    snapshots,
    evaluator,
    counts,
    answerEvaluation: createAnswerEvaluation({ snapshots, evaluator, counts }),
    definitions: createDefinitions(),
    access: createSdkAccess({ snapshots, actors, currentProjectOf: rememberedPlace(database, now) }),
    close() {
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
