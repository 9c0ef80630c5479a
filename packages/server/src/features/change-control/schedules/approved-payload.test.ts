import { expect, it } from 'vitest'
import { isApprovedPayload } from './approved-payload.ts'

const on = { operation: 'update_status', value: true }
const off = { operation: 'update_status', value: false }
const ramp = (condition_index: number, percentage: number) => ({
  operation: 'ramp',
  value: {
    condition_index,
    condition: { properties: [], variant: null },
    steps: [{ at: '2026-01-01T00:00:00Z', rollout_percentage: percentage }],
  },
})

it('a schedule is approved for its own payload, and for the reversal of a pair', () => {
  expect(isApprovedPayload(on, { payload: on, pair: null })).toBe(true)
  expect(isApprovedPayload(off, { payload: on, pair: null })).toBe(false)
  expect(isApprovedPayload(off, { payload: on, pair: { cronExpression: '0 17 * * *' } })).toBe(true)
  expect(isApprovedPayload({ operation: 'update', value: false }, { payload: on, pair: {} })).toBe(false)
  expect(isApprovedPayload(on, {})).toBe(false)
})

it('a ramp is approved for its condition and steps, wherever the condition is', () => {
  expect(isApprovedPayload(ramp(1, 50), { payload: ramp(0, 50) })).toBe(true)
  expect(isApprovedPayload(ramp(0, 100), { payload: ramp(0, 50) })).toBe(false)
})
