import type { ScheduledChange } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { emptyDraft } from '../editor/draft.ts'
import { readFilters } from '../filters.ts'
import { onlyOnce } from './recurrence.ts'
import {
  afterPlanned,
  changeSentence,
  type PlannedChange,
  plannedIn,
  plannedToWire,
  readSteps,
  rescheduledToWire,
  stepsOf,
  suggestSteps,
} from './scheduled-change.ts'

const planned: PlannedChange = {
  kind: 'ramp',
  at: '2026-03-01T10:00',
  condition: 1,
  to: 100,
  steps: '50, 100',
  hours: 24,
  ...onlyOnce,
}
const percent = (value: number) => `${value}%`
const sentence = (payload: object) => changeSentence({ payload: payload as never }, en, percent)

const scheduled = (fields: Partial<ScheduledChange>): ScheduledChange =>
  ({
    id: 1,
    record_id: '12',
    payload: { operation: 'update_status', value: true },
    scheduled_at: '2026-03-01T10:00:00Z',
    next_attempt_at: '2026-03-01T10:00:00Z',
    status: 'pending',
    steps_done: 0,
    broken_reason: null,
    is_recurring: false,
    recurrence_interval: null,
    cron_expression: null,
    timezone: 'UTC',
    end_date: null,
    pair_id: null,
    ...fields,
  }) as ScheduledChange

describe('a canceled change', () => {
  it('is scheduled again as it was', () => {
    const switching = { record_id: '12', payload: { operation: 'update_status', value: true } }
    expect(rescheduledToWire(scheduled({}), undefined)).toEqual({ ...switching, scheduled_at: '2026-03-01T10:00:00Z' })
    const daily = scheduled({
      is_recurring: true,
      recurrence_interval: 'daily',
      next_attempt_at: '2026-03-05T10:00:00Z',
      end_date: '2026-04-01T00:00:00Z',
    })
    const repeated = { is_recurring: true, timezone: 'UTC', end_date: '2026-04-01T00:00:00Z' }
    expect(rescheduledToWire(daily, scheduled({ next_attempt_at: '2026-03-05T17:00:00Z' }))).toEqual({
      ...switching,
      ...repeated,
      recurrence_interval: 'daily',
      scheduled_at: '2026-03-05T10:00:00Z',
      pair: { scheduled_at: '2026-03-05T17:00:00Z' },
    })
    const workdays = scheduled({ is_recurring: true, cron_expression: '0 9 * * 1-5' })
    expect(rescheduledToWire(workdays, scheduled({ cron_expression: '0 17 * * 1-5' }))).toEqual({
      ...switching,
      is_recurring: true,
      recurrence_interval: null,
      timezone: 'UTC',
      end_date: null,
      cron_expression: '0 9 * * 1-5',
      pair: { cron_expression: '0 17 * * 1-5' },
    })
    const payload = { operation: 'ramp', value: { steps: [] } }
    expect(rescheduledToWire(scheduled({ payload }), undefined)).toEqual({ record_id: '12', payload })
  })

  it('is gone when a new one cannot replace it', () => {
    const paused = { is_recurring: false, cron_expression: '0 9 * * 1-5' }
    for (const fields of [{ steps_done: 1 }, { broken_reason: 'gone' }, paused]) {
      expect(rescheduledToWire(scheduled(fields), undefined)).toBeUndefined()
    }
  })
})

describe('a scheduled change', () => {
  it('ramps in the given steps, one after another', () => {
    expect(stepsOf(new Date('2026-03-01T10:00:00Z'), [5, 25, 100], 24)).toEqual([
      { at: '2026-03-01T10:00:00.000Z', rollout_percentage: 5 },
      { at: '2026-03-02T10:00:00.000Z', rollout_percentage: 25 },
      { at: '2026-03-03T10:00:00.000Z', rollout_percentage: 100 },
    ])
  })

  it('accepts rising percentages above the current one', () => {
    expect(readSteps('1, 5; 25% 50→100', 0)).toEqual([1, 5, 25, 50, 100])
    expect(readSteps('12.5', 10)).toEqual([12.5])
    for (const text of ['', '10', '50, 40', '50, 50', '101', 'x']) expect(readSteps(text, 10)).toBeUndefined()
  })

  it('starts with a condition that a ramp can raise, and steps above it', () => {
    expect(plannedIn(0, 'ramp', [100, 10])).toMatchObject({ condition: 1, steps: '25, 50, 100' })
    expect(suggestSteps(100)).toBe('')
  })

  it('leads to the flag that the review shows', () => {
    const draft = {
      ...emptyDraft,
      filters: readFilters({ groups: [{ rollout_percentage: 1 }, { rollout_percentage: 2 }] }),
    }
    const rollouts = (kind: PlannedChange['kind']) =>
      afterPlanned(draft, { ...planned, kind, to: 7 }, [50, 100]).filters.groups.map(group => group.rollout_percentage)
    expect(rollouts('ramp')).toEqual([1, 100])
    expect(rollouts('condition')).toEqual([1, 2, 7])
    expect(afterPlanned(draft, { ...planned, kind: 'on' }, []).active).toBe(true)
  })

  it('is sent in the form of its operation', () => {
    expect(plannedToWire(planned, []).payload).toMatchObject({ operation: 'ramp', value: { condition_index: 1 } })
    expect(plannedToWire({ ...planned, kind: 'condition', to: 5 }, []).payload).toEqual({
      operation: 'add_release_condition',
      value: { groups: [{ properties: [], rollout_percentage: 5 }] },
    })
    expect(plannedToWire({ ...planned, kind: 'on' }, []).payload).toEqual({ operation: 'update_status', value: true })
    expect(plannedToWire({ ...planned, kind: 'off' }, []).payload).toEqual({ operation: 'update_status', value: false })
  })

  it('is described in words', () => {
    expect(sentence({ operation: 'update_status', value: true })).toBe('Turn on')
    expect(sentence({ operation: 'update_status', value: false })).toBe('Turn off')
    expect(sentence(plannedToWire(planned, [50, 100]).payload)).toBe('Condition 2: 50% → 100%')
    expect(sentence({ operation: 'add_release_condition', value: { groups: [{}] } })).toBe(
      'Add a condition for 100% of everyone',
    )
    expect(sentence({ operation: 'other' })).toBe('Update fields')
  })
})
