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
  it('reads once for all calls in one event-loop tick, and again for a call during the read', async () => {
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
    // Committed after the first reading has looked: only another read can find it.
    committed.push(change(2))
    const later = [feed.catchUp(), feed.catchUp()]
    goOn()
    await Promise.all(first)
    expect(seen[0]).toBe(1)
    await Promise.all(later)
    expect(seen).toEqual([1, 2])
    expect(readings).toBe(2)
  })

  it('rejects the callers of a read that fails, and reads again for the next one', async () => {
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

  it('fails every caller of a read that fails, and rejects at once until a read in the background succeeds', async () => {
    const reads: { resolve(): void; reject(error: Error): void }[] = []
    const feed = createChangeFeed(
      {
        listAfter: () =>
          new Promise((resolve, reject) => {
            reads.push({ resolve: () => resolve([change(1)]), reject })
          }),
        head: async () => 0,
      },
      atTheBeginning,
      () => {},
    )
    const unavailable = Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' })
    const seen: number[] = []
    feed.subscribe(
      changes => void seen.push(...changes.map(({ sequence }) => sequence)),
      () => {},
    )
    const first = [feed.catchUp(), feed.catchUp()]
    await expect.poll(() => reads.length).toBe(1)
    const waiting = [feed.catchUp(), feed.catchUp()]
    reads[0]!.reject(unavailable)
    for (const caller of [...first, ...waiting]) await expect(caller).rejects.toBe(unavailable)
    // One probe is under way; no caller waits for it, and none starts another.
    for (let n = 0; n < 3; n++) await expect(feed.catchUp()).rejects.toBe(unavailable)
    expect(reads).toHaveLength(2)
    reads[1]!.reject(unavailable)
    await expect.poll(() => feed.catchUp().catch(() => reads.length)).toBe(3)
    reads[2]!.resolve()
    await expect.poll(() => seen).toEqual([1])
    const again = feed.catchUp()
    await expect.poll(() => reads.length).toBe(4)
    reads[3]!.resolve()
    await again
    expect(seen).toEqual([1])
  })

  it('resets its listeners, once, when the log is replaced by a shorter, equally long or longer one', async () => {
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
    const delivered: string[] = []
    const note = (changes: readonly Change[]) => void delivered.push(...changes.map(({ entityId }) => entityId))
    feed.subscribe(note, () => void delivered.push('reset'))
    const deliveredAfter = async (next: Change[]) => {
      delivered.length = 0
      committed = next
      await feed.catchUp()
      await feed.catchUp()
      return [...delivered]
    }
    expect(await deliveredAfter(committed)).toEqual([])
    expect(await deliveredAfter([change(1)])).toEqual(['reset'])
    expect(await deliveredAfter([change(1), other(2)])).toEqual(['other 2'])
    expect(await deliveredAfter([change(1), change(2)])).toEqual(['reset', '2'])
    expect(await deliveredAfter([change(1), other(2), other(3), other(4)])).toEqual([
      'reset',
      'other 2',
      'other 3',
      'other 4',
    ])
    expect(await deliveredAfter([])).toEqual(['reset'])
    expect(await deliveredAfter([change(1)])).toEqual(['1'])
  })
})
