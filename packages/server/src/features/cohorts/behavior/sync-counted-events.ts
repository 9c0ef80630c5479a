import { behaviorsIn } from '@halyard/engine'
import type { Cohort } from '../../../domain/cohort.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { behavioralFiltersMax, type Counting, countedEventsMax, countsEvents } from './counted-event.ts'
import { historyFrom } from './recording-start.ts'

/** Throws `invalid` when the cohort would take the project beyond its limits. The caller holds the project's references. */
export async function checkBehaviorLimits(tx: Stores, projectId: number, cohort: Counting & Pick<Cohort, 'id'>) {
  if (!countsEvents(cohort)) return
  const others = (await tx.cohorts.listDefinitions(projectId)).filter(
    ({ id, isStatic }) => id !== cohort.id && !isStatic,
  )
  const behaviors = [...others, cohort].flatMap(({ filters }) => behaviorsIn(filters))
  const events = new Set(behaviors.map(({ event }) => event))
  if (behaviors.length > behavioralFiltersMax) {
    const message = `A project can have at most ${behavioralFiltersMax} behavioral filters; these would be ${behaviors.length}.`
    throw invalid('filters', 'max_length', message)
  }
  if (events.size > countedEventsMax) {
    const message = `The behavioral filters of a project can name at most ${countedEventsMax} events; these would be ${events.size}.`
    throw invalid('filters', 'max_length', message)
  }
}

/** Counts the events that live cohorts name, and no others. The caller has saved a cohort and holds the project's references. */
export async function syncCountedEvents(tx: Stores, projectId: number, now: Instant): Promise<void> {
  const cohorts = (await tx.cohorts.listDefinitions(projectId)).filter(({ isStatic }) => !isStatic)
  const named = new Set(cohorts.flatMap(({ filters }) => behaviorsIn(filters).map(({ event }) => event)))
  const live = await tx.countedEvents.listLive(projectId)
  const ended = [...live.values()].filter(({ name }) => !named.has(name))
  await tx.countedEvents.end(
    ended.map(({ id }) => id),
    now,
  )
  await tx.countedEvents.add(
    projectId,
    [...named].filter(name => !live.has(name)),
    now,
    await historyFrom(tx, now),
  )
}
