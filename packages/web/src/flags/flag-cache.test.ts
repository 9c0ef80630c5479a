import { describe, expect, it } from 'vitest'
import { sampleFlag, sampleSummary } from '../testing/sample-flag.ts'
import { type FlagKind, type FlagPages, withFlags } from './flag-cache.ts'

/** Newest first, as the server sends them. */
const pages = (count: number, ...ids: number[][]): FlagPages => ({
  pages: ids.map(page => ({ count, results: page.map(id => sampleSummary({ id })) })),
  pageParams: ids.map((_, index) => index),
})
const idsOf = (data: FlagPages) => data.pages.map(page => page.results.map(({ id }) => id))
const countsOf = (data: FlagPages) => data.pages.map(({ count }) => count)
const update = (data: FlagPages, kind: FlagKind, fields: Parameters<typeof sampleFlag>[0]) =>
  withFlags(data, kind, [sampleFlag(fields)])

describe('a cached list of flags', () => {
  it('replaces a changed flag in place', () => {
    const next = update(pages(4, [4, 3], [2, 1]), 'live', { id: 3, name: 'Changed' })
    expect(idsOf(next)).toEqual([
      [4, 3],
      [2, 1],
    ])
    expect(next.pages[0]?.results[1]?.name).toBe('Changed')
  })

  it('keeps untouched pages referentially equal, so that they are not rendered again', () => {
    const data = pages(4, [4, 3], [2, 1])
    const next = update(data, 'live', { id: 4 })
    expect(next.pages[1]).toBe(data.pages[1])
    expect(next.pages[0]).not.toBe(data.pages[0])
  })

  it('removes a deleted flag and counts it', () => {
    const next = update(pages(3, [3, 2, 1]), 'live', { id: 2, deleted: true })
    expect(idsOf(next)).toEqual([[3, 1]])
    expect(countsOf(next)).toEqual([2])
  })

  it('adds a deleted flag to the trash at its position', () => {
    const next = update(pages(2, [3, 1]), 'deleted', { id: 2, deleted: true })
    expect(idsOf(next)).toEqual([[3, 2, 1]])
    expect(countsOf(next)).toEqual([3])
  })

  it('adds a new flag first and counts it in every page', () => {
    const next = update(pages(4, [4, 3], [2, 1]), 'live', { id: 5 })
    expect(idsOf(next)).toEqual([
      [5, 4, 3],
      [2, 1],
    ])
    expect(countsOf(next)).toEqual([5, 5])
  })

  it('orders flags of the same instant by id', () => {
    const created_at = '2026-05-01T00:00:00.000Z'
    const data: FlagPages = {
      pages: [{ count: 2, results: [sampleSummary({ id: 9, created_at }), sampleSummary({ id: 3, created_at })] }],
      pageParams: [0],
    }
    expect(idsOf(update(data, 'live', { id: 5, created_at }))).toEqual([[9, 5, 3]])
  })

  it('leaves an older flag to a page that is not loaded yet', () => {
    const next = update(pages(10, [9, 8]), 'live', { id: 1 })
    expect(idsOf(next)).toEqual([[9, 8]])
    expect(countsOf(next)).toEqual([10])
  })

  it('appends an older flag when everything is loaded', () => {
    expect(idsOf(update(pages(2, [9, 8]), 'live', { id: 1 }))).toEqual([[9, 8, 1]])
  })

  it('adds nothing to the stale list, and removes what is off', () => {
    const data = pages(2, [3, 2])
    expect(idsOf(update(data, 'stale', { id: 4 }))).toEqual([[3, 2]])
    expect(idsOf(update(data, 'stale', { id: 3, active: false }))).toEqual([[2]])
  })

  it('moves an archived flag to the archive', () => {
    expect(idsOf(update(pages(2, [3, 2]), 'live', { id: 3, archived: true }))).toEqual([[2]])
    expect(idsOf(update(pages(1, [2]), 'archived', { id: 3, archived: true }))).toEqual([[3, 2]])
  })
})
