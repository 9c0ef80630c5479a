import { personCreatedAt } from '@halyard/engine'
import type { Instant } from '../instant.ts'
import type { Properties } from './properties.ts'

/** A person, known by one or more distinct ids. */
export interface Person {
  readonly id: number
  readonly projectId: number
  readonly uuid: string
  readonly properties: Properties
  readonly isIdentified: boolean
  readonly distinctIdCount: number
  /** Incremented by each change to the person or its set of ids. */
  readonly version: number
  readonly createdAt: Instant
}

/** The properties that flags are evaluated with: the stored ones, and when the person was created. */
export const evaluatedPropertiesOf = ({ properties, createdAt }: Person): Properties => ({
  ...properties,
  [personCreatedAt]: createdAt,
})

export const distinctIdsPerPersonMax = 1000

/** Properties that usually hold a name, most specific first. */
const nameProperties = ['email', 'Email', 'name', 'Name', 'username', 'Username', 'UserName'] as const

/** Display name of a person: the first name property, else a distinct id that does not look generated. */
export function nameOf(person: Pick<Person, 'uuid' | 'properties'>, distinctIds: readonly string[]): string {
  for (const name of nameProperties) {
    const value = person.properties[name]
    if (typeof value === 'string' && value.trim() !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return distinctIds.find(id => !looksGenerated(id)) ?? distinctIds[0] ?? person.uuid
}

const looksGenerated = (distinctId: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(distinctId) ||
  /^[0-9a-f]{10,16}-[0-9a-f]{10,16}-[0-9a-f]{6,8}-[0-9a-f]{5,8}-[0-9a-f]{10,16}$/i.test(distinctId)

export interface PersonFilter {
  readonly distinctId?: string
  /** Exact match. */
  readonly email?: string
}

export interface HashKey {
  readonly flagKey: string
  readonly hashKey: string
}
