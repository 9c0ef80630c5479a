import { describe, expect, it } from 'vitest'
import { sampleFlag } from '../../testing/sample-flag.ts'
import { writeFilters } from '../filters.ts'
import { copiedDraft } from './copied-flag.ts'

const origin = {
  cohortName: (id: string) => (id === '7' ? 'Beta' : `#${id}`),
  flagKey: (id: string) => (id === '5' ? 'base' : `#${id}`),
  groupTypes: { 0: 'company' },
}
const flag = sampleFlag({
  filters: {
    aggregation_group_type_index: 0,
    groups: [
      {
        properties: [
          { type: 'cohort', key: 'id', value: 7 },
          { type: 'flag', key: '5', operator: 'flag_evaluates_to', value: true },
        ],
      },
    ],
  },
})

describe('a flag in the project that it is copied to', () => {
  it('refers to the cohorts, flags and group types of that project', () => {
    const namesThere = { cohortNames: { 70: 'Beta' }, dependencies: { base: 50 } }
    const draft = copiedDraft(flag, origin, namesThere, { 2: 'company' })
    expect(draft && writeFilters(draft.filters)).toMatchObject({
      aggregation_group_type_index: 2,
      groups: [{ properties: [{ value: 70 }, { key: '50' }] }],
    })
  })

  it('is not known while a cohort is missing there', () => {
    expect(copiedDraft(flag, origin, { cohortNames: {}, dependencies: { base: 50 } }, {})).toBeUndefined()
  })
})
