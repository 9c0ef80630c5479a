import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { changeSentence, type PlannedChange, plannedToWire, stepsOf } from './scheduled-change.ts'

const planned: PlannedChange = { kind: 'ramp', at: '2026-03-01T10:00', condition: 1, to: 100, steps: 4, hours: 24 }
const percent = (value: number) => `${value}%`
const sentence = (payload: object) => changeSentence({ payload: payload as never }, en, percent)

describe('a scheduled change', () => {
  it('ramps in even steps from the current to the target percentage', () => {
    const steps = stepsOf(new Date('2026-03-01T10:00:00Z'), 10, planned)
    expect(steps.map(step => step.rollout_percentage)).toEqual([32.5, 55, 77.5, 100])
    expect(steps.map(step => step.at)).toEqual([
      '2026-03-01T10:00:00.000Z',
      '2026-03-02T10:00:00.000Z',
      '2026-03-03T10:00:00.000Z',
      '2026-03-04T10:00:00.000Z',
    ])
  })

  it('is sent in the form of its operation', () => {
    expect(plannedToWire(planned, 0).payload).toMatchObject({ operation: 'ramp', value: { condition_index: 1 } })
    expect(plannedToWire({ ...planned, kind: 'condition', to: 5 }, 0).payload).toEqual({
      operation: 'add_release_condition',
      value: { groups: [{ properties: [], rollout_percentage: 5 }] },
    })
    expect(plannedToWire({ ...planned, kind: 'on' }, 0).payload).toEqual({ operation: 'update_status', value: true })
    expect(plannedToWire({ ...planned, kind: 'off' }, 0).payload).toEqual({ operation: 'update_status', value: false })
  })

  it('is described in words', () => {
    expect(sentence({ operation: 'update_status', value: true })).toBe('Turn on')
    expect(sentence({ operation: 'update_status', value: false })).toBe('Turn off')
    expect(sentence(plannedToWire({ ...planned, steps: 2 }, 0).payload)).toBe('Condition 2: 50% → 100%')
    expect(sentence({ operation: 'add_release_condition', value: { groups: [{}] } })).toBe(
      'Add a condition for 100% of everyone',
    )
    expect(sentence({ operation: 'other' })).toBe('Update fields')
  })
})
