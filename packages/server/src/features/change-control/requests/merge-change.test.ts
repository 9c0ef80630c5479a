import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeChange } from './merge-change.ts'

const filters = (...groups: unknown[]) => ({ filters: { groups } })

describe('a three-way merge', () => {
  it.each<[string, unknown[], unknown[], unknown[], unknown[]]>([
    ['two conditions edited by two people', ['a', 'b'], ['A', 'b'], ['a', 'B'], ['A', 'B']],
    ['both add a condition', ['a'], ['a', 'mine'], ['a', 'theirs'], ['a', 'theirs', 'mine']],
    ['one removes, one edits another', ['a', 'b', 'c'], ['b', 'c'], ['a', 'b', 'C'], ['b', 'C']],
    ['both make the same change', ['a'], ['A'], ['A'], ['A']],
    ['one inserts before what the other edits', ['a', 'b'], ['new', 'a', 'b'], ['a', 'B'], ['new', 'a', 'B']],
  ])('keeps both sides: %s', (_, base, mine, theirs, merged) => {
    expect(mergeChange(filters(...base), filters(...mine), filters(...theirs))).toEqual({
      fields: filters(...merged),
      conflicts: [],
    })
  })

  it('reports what both sides changed differently', () => {
    expect(mergeChange(filters('a', 'b'), filters('A', 'b'), filters('x', 'b')).conflicts).toEqual(['filters.groups.0'])
    expect(mergeChange({ name: 'a' }, { name: 'b' }, { name: 'c' }).conflicts).toEqual(['name'])
    const payloads = (payload: object) => ({ filters: { payloads: payload } })
    const merged = mergeChange(payloads({ a: 1, b: 1 }), payloads({ a: 2, b: 1 }), payloads({ a: 1, b: 2 }))
    expect(merged).toEqual({ fields: payloads({ a: 2, b: 2 }), conflicts: [] })
    const variants = (n: number) => ({ filters: { multivariate: { variants: [n] } } })
    expect(mergeChange(variants(1), variants(2), variants(3)).conflicts).toEqual(['filters.multivariate.variants'])
  })

  it('does not take a built-in property for a payload', () => {
    const payloads = (json: string) => ({ filters: { payloads: JSON.parse(json) } })
    const merge = (base: string, mine: string, theirs: string) =>
      JSON.stringify(mergeChange(payloads(base), payloads(mine), payloads(theirs)))
    const merged = (json: string) => JSON.stringify({ fields: payloads(json), conflicts: [] })
    expect(merge('{"constructor":1}', '{}', '{"constructor":1}')).toBe(merged('{}'))
    expect(merge('{"constructor":1}', '{"constructor":1}', '{}')).toBe(merged('{}'))
    expect(merge('{}', '{"toString":1}', '{"a":1}')).toBe(merged('{"a":1,"toString":1}'))
    expect(merge('{}', '{"__proto__":1}', '{}')).toBe(merged('{"__proto__":1}'))
  })

  it('merges variants by key, and their split as a whole', () => {
    const variants = (...list: [key: string, name: string, percentage: number][]) => ({
      filters: {
        multivariate: { variants: list.map(([key, name, rollout_percentage]) => ({ key, name, rollout_percentage })) },
      },
    })
    const base = variants(['a', '', 50], ['b', '', 50])
    const named = variants(['a', 'mine', 50], ['b', '', 50])
    const split = variants(['a', '', 20], ['b', 'theirs', 80])
    expect(mergeChange(base, named, split)).toEqual({
      fields: variants(['a', 'mine', 20], ['b', 'theirs', 80]),
      conflicts: [],
    })
    const other = variants(['a', '', 60], ['b', 'mine', 30], ['c', '', 10])
    const merged = mergeChange(base, other, split, 'theirs')
    expect(merged.conflicts).toEqual(['filters.multivariate.variants.split', 'filters.multivariate.variants.b'])
    expect(merged.fields).toEqual(variants(['a', '', 20], ['b', 'theirs', 80]))
  })

  it('keeps the parts of a field that are not in conflict, whichever side wins', () => {
    const sides = [filters('a', 'b', 'c'), filters('A', 'mine', 'c'), filters('a', 'theirs', 'C')] as const
    expect(mergeChange(...sides, 'mine').fields).toEqual(filters('A', 'mine', 'C'))
    expect(mergeChange(...sides, 'theirs').fields).toEqual(filters('A', 'theirs', 'C'))
  })

  const value = fc.record({
    groups: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 5 }),
    payloads: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 2 })),
    early_exit: fc.boolean(),
  })
  const wrap = (given: object) => ({ filters: given })

  it('changes nothing on one side when only the other side changed', () => {
    fc.assert(
      fc.property(value, value, (base, other) => {
        expect(mergeChange(wrap(base), wrap(base), wrap(other))).toEqual({ fields: wrap(other), conflicts: [] })
        expect(mergeChange(wrap(base), wrap(other), wrap(base))).toEqual({ fields: wrap(other), conflicts: [] })
        expect(mergeChange(wrap(base), wrap(other), wrap(other))).toEqual({ fields: wrap(other), conflicts: [] })
      }),
      { numRuns: 500 },
    )
  })
})
