import { describe, expect, it } from 'vitest'
import { Problem } from '../../../problem.ts'
import { createIngestQueue } from './ingest-queue.ts'

interface Batch {
  readonly name: string
  readonly size: number
}

describe('ingest queue', () => {
  const batch = (name: string, size = 1): Batch => ({ name, size })

  function queueOf(write: (names: string[]) => Promise<void>, waitingMax = 100, writtenAtOnceMax = 10) {
    const groups: string[][] = []
    const queue = createIngestQueue<Batch>({
      async write(batches) {
        const names = batches.map(({ name }) => name)
        groups.push(names)
        await write(names)
      },
      waitingMax,
      writtenAtOnceMax,
    })
    return { queue, groups }
  }

  it('groups batches that arrive during a write into the next write', async () => {
    let finish = () => {}
    const { queue, groups } = queueOf(() => new Promise(resolve => (finish = resolve)))
    const first = queue.submit(batch('a'))
    await expect.poll(() => groups.length).toBe(1)
    const others = ['b', 'c', 'd'].map(name => queue.submit(batch(name)))
    expect(queue.waiting).toBe(4)
    finish()
    await first
    await expect.poll(() => groups.length).toBe(2)
    finish()
    await Promise.all(others)
    expect(groups).toEqual([['a'], ['b', 'c', 'd']])
    expect(queue.waiting).toBe(0)
  })

  it('preserves order, limits the group size, and still writes a batch larger than a group', async () => {
    const { queue, groups } = queueOf(async () => {})
    await Promise.all([queue.submit(batch('a', 6)), queue.submit(batch('b', 6)), queue.submit(batch('c', 50))])
    expect(groups).toEqual([['a'], ['b'], ['c']])
  })

  it('rejects only the batch that cannot be written, not the rest of its group', async () => {
    const { queue } = queueOf(async names => {
      if (names.includes('bad')) throw new Error('bad')
    })
    const results = await Promise.allSettled(['a', 'bad', 'b'].map(name => queue.submit(batch(name))))
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('rejects the whole group after one attempt when the database is unavailable', async () => {
    const { queue, groups } = queueOf(async () => {
      throw new Problem('unavailable', 'Unreachable.')
    })
    const results = await Promise.allSettled(['a', 'b', 'c'].map(name => queue.submit(batch(name))))
    expect(results.map(result => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(groups).toHaveLength(1)
    expect(queue.waiting).toBe(0)
  })

  it('rejects batches beyond its limit, but never the first one', async () => {
    let finish = () => {}
    const { queue, groups } = queueOf(() => new Promise(resolve => (finish = resolve)), 10, 10)
    const large = queue.submit(batch('large', 50))
    await expect(queue.submit(batch('more'))).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 })
    await expect.poll(() => groups.length).toBe(1)
    expect(queue.waiting).toBe(50)
    finish()
    await queue.drained()
    expect(queue.waiting).toBe(0)
    await large
  })
})
