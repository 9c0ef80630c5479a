import type { ActivityEntry } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { hourlyThreshold } from './hourly-threshold.ts'
import { rolloutSteps } from './rollout-steps.ts'

const percent = (value: number) => `${value}%`
const entry = (id: number, activity: string, changes: object[] = [], user: object = { first_name: 'Ada' }) =>
  ({ id, activity, user, created_at: `2026-03-0${id}T12:00:00Z`, detail: { changes } }) as unknown as ActivityEntry
const changed = (field: string, before: unknown, after: unknown) => ({ field, action: 'changed', before, after })
const rollout = (...percentages: (number | null)[]) => ({
  groups: percentages.map(rollout_percentage => ({ rollout_percentage })),
})

describe('the steps of a rollout', () => {
  it('are what changes who gets the flag, oldest first', () => {
    const entries = [
      entry(5, 'updated', [changed('active', true, false)], { is_system: true }),
      entry(4, 'updated', [changed('filters', rollout(25), { ...rollout(25), payloads: {} })]),
      entry(3, 'updated', [changed('name', 'a', 'b')]),
      entry(2, 'updated', [changed('filters', rollout(5), rollout(25, null))]),
      entry(1, 'created'),
    ]
    expect(rolloutSteps(entries, en, percent).map(({ id, text }) => [id, text])).toEqual([
      [1, 'Ada created the flag'],
      [2, 'Ada changed the rollout: 5% → 25%, 100%'],
      [4, 'Ada changed the conditions'],
      [5, 'Halyard turned it off'],
    ])
  })

  it('are at most twelve, the newest', () => {
    const entries = Array.from({ length: 20 }, (_, n) => entry(20 - n, 'updated', [changed('active', false, true)]))
    expect(rolloutSteps(entries, en, percent).map(({ id }) => id)).toEqual([
      9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    ])
  })
})

describe('a rollback threshold per hour', () => {
  it.each([
    ['count', 10, 60, 10],
    ['count', 10, 5, 120],
    ['rate', 2, 30, 120],
    ['per', 0.1, 60, undefined],
  ] as const)('of a %s of %d in %d minutes is %s', (eventMath, threshold, windowMinutes, perHour) => {
    expect(hourlyThreshold({ eventMath, properties: [], threshold, windowMinutes })).toBe(perHour)
  })
})
