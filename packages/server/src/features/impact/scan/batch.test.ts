import { describe, expect, it } from 'vitest'
import { batchBytesMax, readWithinBounds } from './batch.ts'

/** Reads rows of these lengths as a source would, and notes what was asked of it. */
async function readOf(lengths: readonly number[], rows: number) {
  const asked: string[] = []
  const { read, rows: tried } = await readWithinBounds(
    rows,
    (limit, bytesMax) => {
      asked.push('read')
      const found = lengths.slice(0, limit)
      const complete = found.filter(length => length <= bytesMax)
      const held = complete.reduce((sum, length) => sum + length, 0)
      return {
        size: found.length,
        complete: String(complete.length),
        bytes: found.length === 0 ? null : found.reduce((sum, length) => sum + length, 0),
        held,
      }
    },
    limit => {
      asked.push('count')
      const sumUpTo = (row: number) => lengths.slice(0, row + 1).reduce((sum, length) => sum + length, 0)
      return lengths.slice(0, limit).filter((_length, row) => sumUpTo(row) <= batchBytesMax).length
    },
  )
  return { size: read.size, complete: Number(read.complete), held: read.held, tried, asked }
}

describe('a batch within bounds', () => {
  it('is read at once when nobody is long', async () => {
    expect(await readOf([100, 100, 100], 5)).toEqual({ size: 3, complete: 3, held: 300, tried: 5, asked: ['read'] })
    expect(await readOf([], 5)).toEqual({ size: 0, complete: 0, held: 0, tried: 5, asked: ['read'] })
  })

  it('is read as a whole when a few are long and all of them fit', async () => {
    const long = batchBytesMax / 2
    const found = await readOf([100, long, 100], 5)
    expect(found).toEqual({ size: 3, complete: 3, held: long + 200, tried: 5, asked: ['read', 'read'] })
  })

  it('ends before the one that does not fit any more', async () => {
    const long = batchBytesMax / 2
    const found = await readOf([100, long, 100, long, 100], 5)
    expect(found).toEqual({ size: 3, complete: 3, held: long + 200, tried: 3, asked: ['read', 'count', 'read'] })
  })

  it('is one that is too long, alone', async () => {
    const found = await readOf([batchBytesMax + 1, 100], 5)
    expect(found).toEqual({ size: 1, complete: 1, held: batchBytesMax + 1, tried: 1, asked: ['read', 'count', 'read'] })
  })
})
