import type { Instant } from '../../../instant.ts'
import type { User } from '../../../tenancy.ts'

export interface FlagLink {
  readonly title: string
  readonly url: string
}

/** Who looks after a flag, until when, and where more is written about it. */
export interface FlagDetails {
  readonly flagId: number
  readonly owner: User | null
  /** A day, `YYYY-MM-DD`. */
  readonly expectedEnd: string | null
  readonly links: readonly FlagLink[]
  readonly commentCount: number
}

/** What is undefined stays as it is. */
export interface FlagDetailsPatch {
  readonly ownerId?: number | null | undefined
  readonly expectedEnd?: string | null | undefined
  readonly links?: readonly FlagLink[] | undefined
}

export interface FlagComment {
  readonly id: number
  readonly flagId: number
  readonly text: string
  readonly createdBy: User
  readonly createdAt: Instant
}

export const noDetails = (flagId: number): FlagDetails => ({
  flagId,
  owner: null,
  expectedEnd: null,
  links: [],
  commentCount: 0,
})
