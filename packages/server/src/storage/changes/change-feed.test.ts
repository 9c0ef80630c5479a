import { describe, expect, it } from 'vitest'
import { createChangeFeed, endOf } from './change-feed.ts'
import type { Change } from './changes.ts'

const change = (sequence: number): Change => ({
  sequence,
  topic: 'flag',
  organizationId: null,
  projectId: 1,
  entityId: String(sequence),
  at: '2026-01-31T12:00:00.000000Z',
})

const atTheBeginning = { position: 0, last: undefined }

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
        head: async () => 0,
      },
      atTheBeginning,
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
        head: async () => 0,
      },
      atTheBeginning,
      () => {},
    )
    await expect(feed.catchUp()).rejects.toThrow('away')
    isAway = false
    await expect(feed.catchUp()).resolves.toBeUndefined()
  })

  it('starts anew, once, when the log has become another one: shorter, as long, or longer', async () => {
    let committed = [change(1), change(2), change(3)]
    const log = {
      listAfter: async (sequence: number, limit: number) =>
        committed.filter(each => each.sequence > sequence).slice(0, limit),
      head: async () => committed.at(-1)?.sequence ?? 0,
    }
    const other = (sequence: number) => ({ ...change(sequence), entityId: `other ${sequence}` })
    const feed = createChangeFeed(log, await endOf(log), error => {
      throw error
    })
    const told: string[] = []
    const tell = (changes: readonly Change[]) => void told.push(...changes.map(({ entityId }) => entityId))
    feed.subscribe(tell, () => void told.push('anew'))
    const toldAfter = async (next: Change[]) => {
      told.length = 0
      committed = next
      await feed.catchUp()
      await feed.catchUp()
      return [...told]
    }
    expect(await toldAfter(committed)).toEqual([])
    expect(await toldAfter([change(1)])).toEqual(['anew'])
    expect(await toldAfter([change(1), other(2)])).toEqual(['other 2'])
    expect(await toldAfter([change(1), change(2)])).toEqual(['anew', '2'])
    expect(await toldAfter([change(1), other(2), other(3), other(4)])).toEqual([
      'anew',
      'other 2',
      'other 3',
      'other 4',
    ])
    expect(await toldAfter([])).toEqual(['anew'])
    expect(await toldAfter([change(1)])).toEqual(['1'])
  })
})
