import { expect, it } from 'vitest'
import { remapFilters } from './references.ts'

const remap = {
  cohort: (id: string) => (id === '7' ? 70 : undefined),
  flag: (reference: string) => (reference === '5' ? '50' : undefined),
  groupType: (index: string) => (index === '0' ? 3 : undefined),
}

it('rewrites references everywhere, and leaves everything else unchanged', () => {
  const filters = {
    groups: [
      {
        aggregation_group_type_index: 0,
        properties: [
          { type: 'cohort', key: 'id', value: 7, negation: true },
          { type: 'cohort', key: 'id', value: '7' },
          { type: 'cohort', key: 'id', value: 8 },
          { type: 'flag', key: '5', value: true },
          { type: 'flag', key: 6, value: true },
          { type: 'group', key: 'plan', value: '7', group_type_index: 0 },
          { type: 'person', key: '5', value: 7 },
        ],
      },
    ],
    aggregation_group_type_index: null,
    payloads: { true: { type: 'cohort', value: 7 } },
    custom: [{ type: 'cohort', value: 7 }, null, 'text'],
  }
  const expected = structuredClone(filters) as typeof filters & Record<string, unknown>
  const [group] = expected.groups
  Object.assign(group!, { aggregation_group_type_index: 3 })
  Object.assign(group!.properties[0]!, { value: 70 })
  Object.assign(group!.properties[1]!, { value: '70' })
  Object.assign(group!.properties[3]!, { key: '50' })
  Object.assign(group!.properties[5]!, { group_type_index: 3 })
  Object.assign(expected.custom[0] as object, { value: 70 })
  expect(remapFilters(filters, remap)).toEqual(expected)
})
