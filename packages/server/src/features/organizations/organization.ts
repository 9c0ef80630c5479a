import type { Instant } from '../../instant.ts'
import type { Level, User } from '../../tenancy.ts'

export interface Member {
  readonly id: string
  readonly organizationId: string
  readonly user: User
  readonly level: Level
  readonly hasSecondFactor: boolean
  /** SCIM created the membership or manages it. */
  readonly isProvisioned: boolean
  readonly joinedAt: Instant
  readonly updatedAt: Instant
}

export interface Invite {
  readonly id: string
  readonly organizationId: string
  readonly targetEmail: string
  readonly firstName: string
  readonly level: Level
  /** SHA-256 of the token that redeems it; null when none does. */
  readonly tokenHash: string | null
  /** Only the email has the token: using it proves the address. */
  readonly isEmailed: boolean
  readonly createdBy: User
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export interface OrganizationPatch {
  readonly name?: string | undefined
  readonly pluginsAccessLevel?: number | undefined
  readonly defaultAccessLevel?: number | undefined
  readonly requiresSecondFactor?: boolean | undefined
  readonly updatedAt: Instant
}
