import type { Instant } from '../../instant.ts'
import type { User } from '../../tenancy.ts'

/** With it, an identity provider provisions the users and groups of one organization. */
export interface ScimToken {
  readonly id: string
  readonly organizationId: string
  /** The account without a person that acts through it. */
  readonly userId: number
  readonly label: string
  readonly hash: string
  readonly mask: string
  readonly createdBy: User
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly lastUsedAt: Instant | null
}

export const scimTokensMax = 20
