import type { Flag } from '@halyard/contract'
import { expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { sampleFlag } from '../../testing/sample-flag.ts'
import { copiedValues, differencesOf } from './copy-differences.ts'

const side = (fields: Partial<Flag>, cohorts: Record<string, string> = {}) => ({
  flag: sampleFlag(fields),
  wording: {
    t: en,
    percent: (value: number) => `${value}%`,
    groupTypes: {},
    cohortName: (id: string) => cohorts[id] ?? id,
    flagKey: (id: string) => id,
  },
})
const inCohort = (value: number) => ({ groups: [{ properties: [{ type: 'cohort', key: 'id', value }] }] })

it('two flags with the same conditions do not differ', () => {
  expect(differencesOf(side({ id: 1, tags: ['a'] }), side({ id: 2 }))).toEqual([])
})

it('cohorts are compared by name, because ids differ between projects', () => {
  const theirs = side({ filters: inCohort(1) }, { '1': 'Payers' })
  expect(differencesOf(theirs, side({ filters: inCohort(9) }, { '9': 'Payers' }))).toEqual([])
  expect(differencesOf(theirs, side({ filters: inCohort(9) }, { '9': 'Staff' }))).toMatchObject([{ field: 'filters' }])
})

it('each differing field is listed with both values', () => {
  expect(differencesOf(side({ active: false }), side({ name: 'New' }))).toEqual([
    { field: 'active', before: false, after: true },
    { field: 'name', before: '', after: 'New' },
  ])
})

it('a new flag lists its state and everything that is not a default', () => {
  const fields = copiedValues(sampleFlag({ active: false, ensure_experience_continuity: true })).map(
    ({ field }) => field,
  )
  expect(fields).toContain('active')
  expect(fields).toContain('ensure_experience_continuity')
  expect(fields).not.toContain('name')
})
