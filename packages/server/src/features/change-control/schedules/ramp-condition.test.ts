import { describe, expect, it } from 'vitest'
import { conditionIdentity, findRampCondition } from './ramp-condition.ts'

const condition = (email: string, rollout_percentage = 0, more = {}) => ({
  properties: [{ key: 'email', type: 'person', operator: 'exact', value: [email] }],
  rollout_percentage,
  ...more,
})
const [a, b, c] = [condition('a'), condition('b'), condition('c')]
const ramp = (conditionIndex: number, of: ReturnType<typeof condition>) => ({
  conditionIndex,
  identity: conditionIdentity(of),
})

describe('the condition of a ramp', () => {
  it('is found where it was, whatever its rollout is now', () => {
    expect(findRampCondition([a, { ...b, rollout_percentage: 70 }], ramp(1, b))).toBe(1)
  })

  it('is found after others were added, removed or moved', () => {
    expect(findRampCondition([c, a, b], ramp(1, b))).toBe(2)
    expect(findRampCondition([b], ramp(1, b))).toBe(0)
  })

  it('is the same in another order of keys', () => {
    const [property] = b.properties
    const reordered = { rollout_percentage: 5, properties: [Object.fromEntries(Object.entries(property!).reverse())] }
    expect(findRampCondition([a, reordered], ramp(1, b))).toBe(1)
  })

  it('is gone when it was removed or matches others now', () => {
    expect(findRampCondition([a, c], ramp(1, b))).toBeUndefined()
    expect(findRampCondition([a, condition('b', 0, { variant: 'test' })], ramp(1, b))).toBeUndefined()
  })

  it('is undecided between two equal ones elsewhere', () => {
    expect(findRampCondition([b, b, a], ramp(2, b))).toBeUndefined()
    expect(findRampCondition([b, b], ramp(1, b))).toBe(1)
  })

  it('goes by position when the ramp was planned without its filters', () => {
    expect(findRampCondition([a, b], { conditionIndex: 1, identity: undefined })).toBe(1)
    expect(findRampCondition([a], { conditionIndex: 1, identity: undefined })).toBeUndefined()
  })
})
