import { describe, expect, it } from 'vitest'
import { readCohortFilters, readIds, writeCohortFilters } from './cohort-filters.ts'

describe('filters of a cohort', () => {
  it('are read and written again', () => {
    const simple = readCohortFilters({
      properties: {
        type: 'OR',
        values: [
          { type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'], extra: 1 }] },
        ],
      },
    })
    expect(simple?.properties[0]).toMatchObject({ key: 'plan', value: ['pro'], extra: 1 })
    expect(readCohortFilters(writeCohortFilters(simple!))).toEqual(simple)
  })
  it('that nest are left to JSON', () => {
    const group = { type: 'AND', values: [{ key: 'a', value: 1 }] }
    expect(readCohortFilters({ properties: { type: 'OR', values: [group, group] } })).toBeUndefined()
  })
})

it('takes the ids out of a CSV file', () => {
  expect(readIds('distinct_id,name\r\n"ada",x\r\nbob;y\n\n')).toEqual(['ada', 'bob'])
  expect(readIds('ada\nbob')).toEqual(['ada', 'bob'])
})
