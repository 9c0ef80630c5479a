import { behaviorsIn } from '@halyard/engine'
import type { Cohort } from '../../../domain/cohort.ts'

/** How often a person has performed an event on a day, to add to what is stored. */
export interface EventDay {
  readonly personId: number
  readonly eventId: number
  /** Days since 1970-01-01 in UTC. */
  readonly day: number
  readonly count: number
}

export const behavioralFiltersMax = 50
export const countedEventsMax = 25

/** What decides whether a cohort counts events. */
export type Counting = Pick<Cohort, 'filters' | 'isStatic' | 'deleted'>

export const countsEvents = ({ filters, isStatic, deleted }: Counting): boolean =>
  !isStatic && !deleted && behaviorsIn(filters).length > 0
