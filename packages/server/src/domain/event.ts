import type { Instant } from '../instant.ts'
import type { Properties } from './properties.ts'

/** An event as an SDK reported it. It updates profiles and counters; the event itself is not stored. */
export interface IncomingEvent {
  readonly uuid: string
  readonly name: string
  readonly distinctId: string
  /** Includes `$set`, `$set_once` and `$unset`, wherever the SDK put them. */
  readonly properties: Properties
  /** When it happened, corrected to the server's clock. */
  readonly at: Instant
  /** The client's IP address. */
  readonly ip: string | null
}

export const eventNameCharactersMax = 200
