import { describe, expect, it } from 'vitest'
import type { Variant } from '../../filters.ts'
import { addVariant, evenly, removeVariant, withWeight } from './variants.ts'

const weighing = (...weights: number[]): Variant[] =>
  weights.map((rollout_percentage, index) => ({ key: `v${index}`, rollout_percentage }))
const weights = (variants: Variant[]) => variants.map(variant => variant.rollout_percentage)
const sum = (variants: Variant[]) => Math.round(weights(variants).reduce((a, b) => a + b, 0) * 100) / 100

describe('variant weights always add up to 100', () => {
  it('when one changes, the others keep their proportions', () => {
    expect(weights(withWeight(weighing(50, 30, 20), 0, 0))).toEqual([0, 60, 40])
  })
  it('when one had 100%, the others get even weights', () => {
    expect(weights(withWeight(weighing(100, 0, 0), 0, 40))).toEqual([40, 30, 30])
  })
  it('for thirds and sevenths', () => {
    for (const count of [1, 2, 3, 6, 7, 11, 13]) {
      const even = evenly(weighing(...Array.from({ length: count }, () => 0)))
      expect(sum(even)).toBe(100)
      for (let index = 0; index < count; index++) {
        for (const weight of [0, 0.01, 33.33, 99.99, 100]) expect(sum(withWeight(even, index, weight))).toBe(100)
      }
    }
  })
  it('when a variant is added or removed', () => {
    expect(weights(addVariant(weighing(60, 40)))).toEqual([33.33, 33.33, 33.34])
    expect(weights(removeVariant(weighing(50, 25, 25), 0))).toEqual([50, 50])
    expect(sum(removeVariant(weighing(33.33, 33.33, 33.34), 1))).toBe(100)
    expect(removeVariant(weighing(100), 0)).toEqual([])
  })
})
