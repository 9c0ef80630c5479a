import { describe, expect, it } from 'vitest'
import { sampleFlag, sampleSummary } from '../../testing/sample-flag.ts'
import {
  type FlagSearch,
  isFiltered,
  listOf,
  nextSort,
  readFlagSearch,
  searchTexts,
  selectFlags,
  serverQuery,
} from './flag-search.ts'
import { toggled } from './use-flag-selection.ts'

const variants = { groups: [], multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] } }
const flags = [
  sampleSummary({ id: 4, key: 'Über-neu', name: 'New header', tags: ['web'] }),
  sampleSummary({ id: 3, key: 'checkout', name: 'Checkout of 2026', tags: ['web', 'shop'], filters: variants }),
  sampleSummary({ id: 2, key: 'banner', active: false, tags: ['shop', 7] }),
  sampleSummary({ id: 1, key: 'admin', created_by: { ...sampleFlag().created_by, id: 8 } }),
]
const keys = (search: FlagSearch) => selectFlags(flags, searchTexts(flags), search).map(({ key }) => key)

describe('the flag list', () => {
  it('is newest first by default and can be sorted', () => {
    expect(keys({})).toEqual(['Über-neu', 'checkout', 'banner', 'admin'])
    expect(keys({ sort: 'created' })).toEqual(['admin', 'banner', 'checkout', 'Über-neu'])
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

describe('the same search on the server', () => {
  it('has the filters and the order of the list', () => {
    expect(serverQuery({})).toMatchObject({ search: '', order: '-created_at' })
    expect(
      serverQuery({ q: ' Web  new ', state: 'stale', type: 'variants', tag: 'a', owner: 8, sort: 'called' }),
    ).toEqual({
      search: 'web new',
      active: 'STALE',
      deleted: undefined,
      type: 'multivariant',
      tags: '["a"]',
      created_by_id: '8',
      order: 'last_called_at',
    })
    expect(serverQuery({ state: 'deleted' })).toMatchObject({ active: undefined, deleted: 'true' })
    expect(serverQuery({ state: 'archived' })).toMatchObject({ active: undefined, archived: 'true' })
  })
})

describe('sorting by a column', () => {
  it('starts with A or the newest, and turns round', () => {
    expect([nextSort(undefined, 'key'), nextSort('key', 'key'), nextSort('-key', 'key')]).toEqual([
      'key',
      '-key',
      'key',
    ])
    expect([nextSort(undefined, 'created'), nextSort('key', 'created')]).toEqual(['created', '-created'])
    expect(nextSort('key', 'called')).toBe('-called')
  })
})

describe('the selection', () => {
  it('toggles a flag without changing the previous selection', () => {
    const [first, second] = [sampleSummary({ id: 1 }), sampleSummary({ id: 2 })]
    const before = new Map([[1, first]])
    expect([...toggled(before, second).keys()]).toEqual([1, 2])
    expect([...toggled(before, first).keys()]).toEqual([])
    expect(before.size).toBe(1)
  })
})
