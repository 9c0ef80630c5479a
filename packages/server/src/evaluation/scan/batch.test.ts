import { describe, expect, it } from 'vitest'
import { batchBytesMax, readWithinBounds } from './batch.ts'

/** Reads rows of these lengths like a source and records the calls. */
async function readOf(lengths: readonly number[], rows: number) {
  const calls: string[] = []
  const { read, rows: tried } = await readWithinBounds(
    rows,
    (limit, bytesMax) => {
      calls.push('read')
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
      calls.push('count')
      const sumUpTo = (row: number) => lengths.slice(0, row + 1).reduce((sum, length) => sum + length, 0)
      return lengths.slice(0, limit).filter((_length, row) => sumUpTo(row) <= batchBytesMax).length
    },
  )
  return { size: read.size, complete: Number(read.complete), held: read.held, tried, calls }
}

describe('readWithinBounds', () => {
  it('reads a batch with one query when no row is long', async () => {
    expect(await readOf([100, 100, 100], 5)).toEqual({ size: 3, complete: 3, held: 300, tried: 5, calls: ['read'] })
    expect(await readOf([], 5)).toEqual({ size: 0, complete: 0, held: 0, tried: 5, calls: ['read'] })
  })

  it('reads the whole batch when some rows are long and all of them fit', async () => {
    const long = batchBytesMax / 2
    const found = await readOf([100, long, 100], 5)
    expect(found).toEqual({ size: 3, complete: 3, held: long + 200, tried: 5, calls: ['read', 'read'] })
  })

  it('ends the batch before the row that does not fit', async () => {
    const long = batchBytesMax / 2
    const found = await readOf([100, long, 100, long, 100], 5)
    expect(found).toEqual({ size: 3, complete: 3, held: long + 200, tried: 3, calls: ['read', 'count', 'read'] })
  })

  it('reads an oversized row as a batch of its own', async () => {
    const found = await readOf([batchBytesMax + 1, 100], 5)
    expect(found).toEqual({ size: 1, complete: 1, held: batchBytesMax + 1, tried: 1, calls: ['read', 'count', 'read'] })
  })
})
