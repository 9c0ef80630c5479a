import { describe, expect, it } from 'vitest'
import type { Change } from '../changes.ts'
import { createChangeFeed } from './change-feed.ts'

const change = (sequence: number): Change => ({
  sequence,
  topic: 'flag',
  organizationId: null,
  projectId: 1,
  entityId: String(sequence),
  at: '2026-01-31T12:00:00.000000Z',
})

describe('the change feed', () => {
  it('reads once for all who ask in one turn, and again for one who asks while it reads', async () => {
    const committed: Change[] = [change(1)]
    let readings = 0
    let goOn: () => void = () => {}
    const feed = createChangeFeed(
      {
        async listAfter(sequence) {
          readings += 1
          const found = committed.filter(each => each.sequence > sequence)
          if (readings === 1) await new Promise<void>(resolve => (goOn = resolve))
          return found
        },
      },
      0,
      error => {
        throw error
      },
    )
    const seen: number[] = []
    const noteSequences = (changes: readonly Change[]) => {
      seen.push(...changes.map(({ sequence }) => sequence))
    }
    feed.subscribe(noteSequences, () => {})
    const first = [feed.catchUp(), feed.catchUp(), feed.catchUp()]
    await expect.poll(() => readings).toBe(1)
    // Committed after the first reading has looked: only another one can tell.
    committed.push(change(2))
    const later = [feed.catchUp(), feed.catchUp()]
    goOn()
    await Promise.all(first)
    expect(seen[0]).toBe(1)
    await Promise.all(later)
    expect(seen).toEqual([1, 2])
    expect(readings).toBe(2)
  })

  it('tells who asked that it could not read, and reads again for the next', async () => {
    let isAway = true
    const feed = createChangeFeed(
      {
        async listAfter() {
          if (isAway) throw new Error('away')
          return []
        },
      },
      0,
      () => {},
    )
    await expect(feed.catchUp()).rejects.toThrow('away')
    isAway = false
    await expect(feed.catchUp()).resolves.toBeUndefined()
  })
})
