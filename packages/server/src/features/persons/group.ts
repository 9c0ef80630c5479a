import type { Properties } from '../../domain/properties.ts'
import type { Instant } from '../../instant.ts'

/** An entity that persons belong to, such as a company or a team. */
export interface Group {
  readonly id: number
  readonly projectId: number
  readonly typeIndex: number
  readonly key: string
  readonly properties: Properties
  readonly version: number
  readonly createdAt: Instant
}

export const groupTypesPerProjectMax = 5
export const groupKeyCharactersMax = 400
export const groupTypeCharactersMax = 400

export interface GroupRef {
  readonly typeIndex: number
  readonly key: string
}
