import type { Instant } from '../../instant.ts'

/** `event`: a name of events. The others: who has the property. */
export type DefinitionKind = 'event' | 'event_property' | 'person' | `group:${number}`

export type PropertyType = 'String' | 'Numeric' | 'Boolean' | 'DateTime'

export interface Observed {
  readonly kind: DefinitionKind
  readonly name: string
  readonly type: PropertyType | null
}

export interface Definition extends Observed {
  readonly createdAt: Instant
  /** Written at most once a day. */
  readonly lastSeenAt: Instant
}

/** A value of an event property. Values of persons and groups are read from them, so that deleting one deletes its values. */
export interface ObservedValue {
  readonly name: string
  readonly value: string | number | boolean
}

export const definitionsPerKindMax = 1000
export const definitionDaysMax = 90
export const valuesPerPropertyMax = 20
export const valuesPerProjectMax = 5000
export const valueDaysMax = 30
const nameCharactersMax = 200
const valueCharactersMax = 200

export const isNameable = (name: string): boolean => name !== '' && name.length <= nameCharactersMax

/** Long texts and structures are no suggestions. */
export const isSuggestible = (value: unknown): value is ObservedValue['value'] =>
  typeof value === 'string'
    ? value !== '' && value.length <= valueCharactersMax
    : typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

const datePattern = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}|$)/

export function typeOf(value: unknown): PropertyType | null {
  switch (typeof value) {
    case 'string':
      return datePattern.test(value) ? 'DateTime' : 'String'
    case 'number':
      return 'Numeric'
    case 'boolean':
      return 'Boolean'
    default:
      return null
  }
}

export interface StoredValue extends ObservedValue {
  readonly lastSeenAt: Instant
}
