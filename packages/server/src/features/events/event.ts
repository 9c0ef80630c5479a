import type { Instant } from '../../instant.ts'
import type { Properties } from '../persons/properties.ts'

/** Something that happened to somebody, as a client library reported it. It is learnt from and counted, but not kept. */
export interface IncomingEvent {
  readonly uuid: string
  readonly name: string
  readonly distinctId: string
  /** With `$set`, `$set_once` and `$unset` inside, wherever the library had put them. */
  readonly properties: Properties
  /** When it happened, by the server's clock. */
  readonly at: Instant
  /** The address it came from. */
  readonly ip: string | null
}

export const eventNameCharactersMax = 200
