import type { Subject } from '@halyard/engine'
import type { Evaluation } from './evaluation.ts'
import type { EventQueue } from './event-queue.ts'

const exposuresCachedMax = 50_000
const exposureWindowMilliseconds = 24 * 60 * 60_000

/** Reports evaluations as `$feature_flag_called` events: once per person, flag and value. */
export class Exposures {
  readonly #events: EventQueue
  #reported = new Set<string>()
  #reportedSince = Date.now()

  constructor(events: EventQueue) {
    this.#events = events
  }

  report({ key, value, flagId, reason, version, source }: Evaluation, subject: Subject): void {
    if (flagId === undefined || value === undefined) return
    const now = Date.now()
    if (this.#reported.size >= exposuresCachedMax || now - this.#reportedSince > exposureWindowMilliseconds) {
      this.#reported = new Set()
      this.#reportedSince = now
    }
    const name = `${subject.distinctId}\0${key}\0${value}`
    if (this.#reported.has(name)) return
    this.#reported.add(name)
    this.#events.add({
      event: '$feature_flag_called',
      distinct_id: subject.distinctId,
      properties: {
        $feature_flag: key,
        $feature_flag_response: value,
        $feature_flag_id: flagId,
        ...(version !== undefined && { $feature_flag_version: version }),
        $feature_flag_reason: reason.description,
        locally_evaluated: source === 'local',
        $lib: 'halyard-client',
        ...groupsOf(subject),
      },
    })
  }
}

/** The groups of the person, as events name them. */
export const groupsOf = ({ groups }: Subject): { readonly $groups?: Subject['groups'] } =>
  groups && Object.keys(groups).length > 0 ? { $groups: groups } : {}
