import { describe, expect, it } from 'vitest'
import { readFilters } from '../filters.ts'
import { groupTypesOf, inputProperties, propertiesOf, textOf } from './preview-subject.ts'

const filters = readFilters({
  aggregation_group_type_index: null,
  groups: [
    {
      properties: [
        { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] },
        { key: 'plan', type: 'person', operator: 'is_set', value: 'is_set' },
        { key: 'employees', type: 'group', group_type_index: 1, operator: 'gt', value: 10 },
        { key: '3', type: 'cohort', operator: 'in', value: 3 },
      ],
    },
  ],
})
const inputs = inputProperties(filters)
const stored = { person: { plan: 'free', age: 40 }, '1': { employees: 250 } }

describe('the subject of a preview', () => {
  it('has a field for each property that the conditions read', () => {
    expect(inputs.map(({ id }) => id)).toEqual(['person plan', '1 employees'])
    expect(groupTypesOf(filters, inputs)).toEqual(['1'])
    expect(groupTypesOf({ ...filters, groupTypeIndex: 0 }, [])).toEqual(['0'])
  })

  it('keeps stored values with their types, unless others are typed', () => {
    expect(propertiesOf(inputs, { stored, typed: {} }, '1')).toEqual({ employees: 250 })
    expect(propertiesOf(inputs, { stored, typed: { 'person plan': 'pro' } }, 'person')).toEqual({
      plan: 'pro',
      age: 40,
    })
  })

  it('treats a cleared field as a property that is not set', () => {
    const values = { stored, typed: { 'person plan': '' } }
    expect(propertiesOf(inputs, values, 'person')).toEqual({ age: 40 })
    expect(inputs.map(input => textOf(input, values))).toEqual(['', '250'])
  })
})
