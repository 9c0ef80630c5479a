import type { Instant } from '../../instant.ts'
import type { Database } from '../../stores.ts'

/** What the routes of nearly every feature need. */
export interface RouteDeps {
  readonly database: Database
  readonly now: () => Instant
}
