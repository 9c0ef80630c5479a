import type { Instant } from '../../instant.ts'
import type { PreviousToken } from '../../tenancy.ts'

export interface SecretKey {
  readonly id: string
  readonly projectId: number
  readonly label: string
  readonly hash: string
  readonly mask: string
  readonly createdAt: Instant
}

/** What is written; a field that is undefined keeps its stored value. */
export interface ProjectPatch {
  readonly name?: string | undefined
  readonly timezone?: string | undefined
  readonly propertyMatchingVersion?: 1 | 2 | undefined
  /** Only a reset of the token sends it. */
  readonly apiToken?: string | undefined
  /** Null ends the overlap. */
  readonly previousToken?: PreviousToken | null | undefined
  readonly updatedAt: Instant
}
