import { describe, expect, it } from 'vitest'
import { sampleFlag } from '../../testing/sample-flag.ts'
import {
  appendMissing,
  type FlagSearch,
  isFiltered,
  listOf,
  readFlagSearch,
  searchTexts,
  selectFlags,
} from './flag-search.ts'
import { toggled } from './use-flag-selection.ts'

const variants = { groups: [], multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] } }
const flags = [
  sampleFlag({ id: 4, key: 'Über-neu', name: 'New header', tags: ['web'] }),
  sampleFlag({ id: 3, key: 'checkout', name: 'Checkout of 2026', tags: ['web', 'shop'], filters: variants }),
  sampleFlag({ id: 2, key: 'banner', active: false, tags: ['shop', 7] }),
  sampleFlag({ id: 1, key: 'admin', created_by: { ...sampleFlag().created_by, id: 8 } }),
]
const keys = (search: FlagSearch) => selectFlags(flags, searchTexts(flags), search).map(({ key }) => key)

describe('the flag list', () => {
  it('is newest first by default and can be sorted', () => {
    expect(keys({})).toEqual(['Über-neu', 'checkout', 'banner', 'admin'])
    expect(keys({ sort: 'oldest' })).toEqual(['admin', 'banner', 'checkout', 'Über-neu'])
    expect(keys({ sort: 'key' })).toEqual(['admin', 'banner', 'checkout', 'Über-neu'])
    expect(keys({ sort: '-key' })).toEqual(['Über-neu', 'checkout', 'banner', 'admin'])
  })

  it('does not change the given array when it sorts', () => {
    const before = [...flags]
    keys({ sort: 'key' })
    expect(flags).toEqual(before)
  })

  it('matches every word in key, description or tags, ignoring case', () => {
    expect(keys({ q: 'CHECK' })).toEqual(['checkout'])
    expect(keys({ q: 'shop 2026' })).toEqual(['checkout'])
    expect(keys({ q: 'über' })).toEqual(['Über-neu'])
    expect(keys({ q: '   ' })).toHaveLength(4)
    expect(keys({ q: 'shop nothing' })).toEqual([])
  })

  it('filters by state, type, tag and creator, all at once', () => {
    expect(keys({ state: 'off' })).toEqual(['banner'])
    expect(keys({ state: 'on' })).toEqual(['Über-neu', 'checkout', 'admin'])
    expect(keys({ type: 'variants' })).toEqual(['checkout'])
    expect(keys({ type: 'boolean' })).toEqual(['Über-neu', 'banner', 'admin'])
    expect(keys({ tag: 'shop' })).toEqual(['checkout', 'banner'])
    expect(keys({ owner: 8 })).toEqual(['admin'])
    expect(keys({ tag: 'shop', state: 'on', type: 'variants' })).toEqual(['checkout'])
  })
})

describe('the search parameters', () => {
  it('keep known values and drop the rest', () => {
    expect(readFlagSearch({ q: 5, state: 'on', type: 'x', sort: 'key', tag: '', owner: 3, other: 1 })).toEqual({
      q: '5',
      state: 'on',
      sort: 'key',
      owner: 3,
    })
    expect(readFlagSearch({ q: '', owner: 'me' })).toEqual({})
  })

  it('count as filtered with anything but a sort order', () => {
    expect(isFiltered({ sort: 'key' })).toBe(false)
    expect(isFiltered({ sort: 'key', tag: 'web' })).toBe(true)
  })

  it('choose the list to load', () => {
    expect([listOf({}), listOf({ state: 'off' }), listOf({ state: 'deleted' }), listOf({ state: 'stale' })]).toEqual([
      'live',
      'live',
      'deleted',
      'stale',
    ])
  })
})

describe('server search results', () => {
  it('are appended without duplicates', () => {
    const [a, b, c] = flags as [(typeof flags)[0], (typeof flags)[0], (typeof flags)[0]]
    expect(appendMissing([a, b], [b, c])).toEqual([a, b, c])
    const loaded = [a]
    expect(appendMissing(loaded, [])).toBe(loaded)
  })
})

describe('the selection', () => {
  it('toggles an id without changing the previous set', () => {
    const before = new Set([1])
    expect(toggled(before, 2)).toEqual(new Set([1, 2]))
    expect(toggled(before, 1)).toEqual(new Set())
    expect(before).toEqual(new Set([1]))
  })
})
