import type { Group as GroupWire, ListedPerson, Person as PersonWire } from '@halyard/contract'
import { nameOf, type Person } from '../../domain/person.ts'
import type { Group } from './group.ts'

export const distinctIdsShownMax = 100

const fieldsOf = (person: Person, distinctIds: readonly string[]) => ({
  uuid: person.uuid,
  name: nameOf(person, distinctIds),
  distinct_ids: [...distinctIds],
  properties: person.properties as Record<string, unknown>,
  is_identified: person.isIdentified,
  created_at: person.createdAt,
})

export const personToWire = (person: Person, distinctIds: readonly string[]): PersonWire => ({
  id: person.id,
  ...fieldsOf(person, distinctIds),
})

export const listedPersonToWire = (person: Person, distinctIds: readonly string[]): ListedPerson => ({
  type: 'person',
  id: person.uuid,
  ...fieldsOf(person, distinctIds),
  matched_recordings: [],
  value_at_data_point: null,
})

export const groupToWire = (group: Group): GroupWire => ({
  group_type_index: group.typeIndex,
  group_key: group.key,
  group_properties: group.properties as Record<string, unknown>,
  created_at: group.createdAt,
})
