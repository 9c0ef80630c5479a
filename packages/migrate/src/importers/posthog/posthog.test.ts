import { expect, it } from 'vitest'
import { convertPostHog } from './posthog.ts'

const flag = (id: number, key: string, properties: object[] = [], more: object = {}) => ({
  id,
  key,
  name: `About ${key}`,
  active: true,
  deleted: false,
  tags: ['t'],
  filters: { groups: [{ properties, rollout_percentage: 30 }] },
  ...more,
})
const cohort = (id: number, more: object = {}) => ({
  id,
  name: `Cohort ${id}`,
  is_static: false,
  filters: {
    properties: { type: 'OR', values: [{ type: 'AND', values: [{ key: 'plan', type: 'person', value: 'pro' }] }] },
  },
  ...more,
})

it('takes flags as they are, with references instead of ids', () => {
  const { flags, cohorts, items } = convertPostHog(
    {
      flags: {
        results: [
          flag(7, 'a', [
            { key: 'id', type: 'cohort', value: 3 },
            { key: '8', type: 'flag', operator: 'flag_evaluates_to', value: true },
          ]),
          flag(8, 'b', [], { active: false, ensure_experience_continuity: true }),
          flag(9, 'gone', [], { deleted: true }),
        ],
      },
      cohorts: [cohort(3)],
    },
    {},
  )
  expect(items.map(({ status, sourceKey }) => [sourceKey, status])).toEqual([
    ['Cohort 3', 'exact'],
    ['a', 'exact'],
    ['b', 'exact'],
  ])
  expect(flags).toMatchObject([
    { sourceId: '8', key: 'b', active: false, ensureExperienceContinuity: true },
    {
      sourceId: '7',
      filters: { groups: [{ properties: [{ value: 'source:3' }, { key: 'source:8' }], rollout_percentage: 30 }] },
    },
  ])
  expect(cohorts).toMatchObject([{ sourceId: '3', name: 'Cohort 3' }])
})

it('refers to group types by their names, of which a project has five at most', () => {
  const document = {
    flags: [flag(1, 'a', [], { filters: { aggregation_group_type_index: 0, groups: [] } })],
    group_type_mapping: { 0: 'company' },
  }
  const typeWith = (groupTypes: string[]) => convertPostHog(document, { groupTypes }).flags[0]?.filters
  expect(typeWith(['company'])?.aggregation_group_type_index).toBe('source:company')
  expect(typeWith(['a', 'b', 'c', 'd'])?.aggregation_group_type_index).toBe('source:company')
  expect(convertPostHog(document, { groupTypes: ['a', 'b', 'c', 'd', 'e'] }).items[0]).toMatchObject({
    status: 'refused',
    reasons: [
      { message: 'Group type "company" does not fit beside a, b, c, d, e: five at most. Import into another project.' },
    ],
  })
  const { group_type_mapping: _, ...without } = document
  expect(convertPostHog(without, {}).items[0]).toMatchObject({ status: 'approximate' })
})

it.each([
  ['a cohort that is not in the file', flag(1, 'a', [{ key: 'id', type: 'cohort', value: 5 }]), [], 'add `cohorts`'],
  [
    'a static cohort',
    flag(1, 'a', [{ key: 'id', type: 'cohort', value: 3 }]),
    [cohort(3, { is_static: true })],
    'not imported',
  ],
])('refuses %s', (_name, given, cohorts, message) => {
  const { items, flags } = convertPostHog({ flags: [given], cohorts }, {})
  expect(flags).toEqual([])
  expect(items.at(-1)?.reasons[0]?.message).toContain(message)
})

it('names the place of what it cannot read', () => {
  expect(() => convertPostHog({ results: [flag(1, 'a'), 3] }, {})).toThrow(
    expect.objectContaining({ path: 'results[1]' }),
  )
  expect(() => convertPostHog({ results: [], next: 'https://x' }, {})).toThrow('one page')
})
