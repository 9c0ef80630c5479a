import { describe, expect, it } from 'vitest'
import type { Change, ChangeListener, ChangeTopic } from './changes.ts'
import { createProjectCache } from './invalidated-cache.ts'

interface Note {
  readonly projectId: number
  readonly text: string
}

describe('a cache of project data', () => {
  const listeners = new Map<ChangeListener, () => void | Promise<void>>()
  const publish = (topic: ChangeTopic, projectId: number | null) => {
    const change: Change = { sequence: 1, topic, organizationId: null, projectId, entityId: '1', at: '' }
    for (const listener of listeners.keys()) void listener([change])
  }
  const reset = () => {
    for (const onReset of listeners.values()) void onReset()
  }
  const open = (sizeMax = 100) =>
    createProjectCache<Note>({
      changes: {
        subscribe(listener, onReset) {
          listeners.set(listener, onReset)
          return () => listeners.delete(listener)
        },
      },
      isConcerned: ({ topic }) => topic === 'flag' || topic === 'identity',
      projectOf: note => note.projectId,
      sizeOf: note => note.text.length,
      sizeMax,
    })
  const loaded: string[] = []
  const found = (projectId: number, text: string) => async () => {
    loaded.push(text)
    return { projectId, text }
  }
  const loadsOf = async (work: () => Promise<unknown>) => {
    const before = loaded.length
    await work()
    return loaded.length - before
  }

  it('loads once, until a change concerns the project or the feed resets', async () => {
    const cache = open()
    const one = () => cache.get('one', found(1, 'one'))
    const two = () => cache.get('two', found(2, 'two'))
    expect([await loadsOf(one), await loadsOf(two)]).toEqual([1, 1])
    expect(await loadsOf(one)).toBe(0)
    publish('cohort', 1)
    expect(await loadsOf(one)).toBe(0)
    publish('flag', 1)
    expect([await loadsOf(one), await loadsOf(two)]).toEqual([1, 0])
    publish('identity', null)
    expect([await loadsOf(one), await loadsOf(two)]).toEqual([1, 1])
    reset()
    expect([await loadsOf(one), await loadsOf(two)]).toEqual([1, 1])
    cache.close()
    expect(listeners.size).toBe(0)
  })

  it('shares one load among callers of a key, but not one that began before a change', async () => {
    const cache = open()
    const ends: ((text: string) => void)[] = []
    const slow = () =>
      cache.get('one', () => new Promise(resolve => ends.push(text => resolve({ projectId: 1, text }))))
    const before = [slow(), slow()]
    expect(ends).toHaveLength(1)
    publish('flag', 1)
    const after = slow()
    expect(ends).toHaveLength(2)
    ends[0]!('old')
    ends[1]!('new')
    expect((await Promise.all(before)).map(note => note?.text)).toEqual(['old', 'old'])
    expect((await after)?.text).toBe('new')
    expect(cache.peek('one')?.text).toBe('new')
    cache.close()
  })

  it('does not cache a value that was loaded while something changed', async () => {
    const cache = open()
    await cache.get('one', async () => {
      publish('flag', 1)
      return { projectId: 1, text: 'old' }
    })
    expect(await cache.get('one', found(1, 'new'))).toEqual({ projectId: 1, text: 'new' })
    cache.close()
  })

  it('fails all callers of a load that fails, and loads again', async () => {
    const cache = open()
    const failing = () => cache.get('one', () => Promise.reject(new Error('no')))
    await expect(Promise.all([failing(), failing()])).rejects.toThrow('no')
    expect(await cache.get('one', found(1, 'one'))).toMatchObject({ text: 'one' })
    cache.close()
  })

  it('caches no absence and nothing too large, and evicts the least recently used', async () => {
    const cache = open(10)
    expect(await cache.get('none', async () => undefined)).toBeUndefined()
    expect(await loadsOf(() => cache.get('none', found(1, 'none')))).toBe(1)
    expect(await loadsOf(() => cache.get('large', found(1, 'x'.repeat(11))))).toBe(1)
    expect(await loadsOf(() => cache.get('large', found(1, 'x'.repeat(11))))).toBe(1)
    await cache.get('second', found(1, 'two'))
    await cache.get('none', found(1, 'none'))
    await cache.get('third', found(1, 'three'))
    expect([cache.peek('none') !== undefined, cache.peek('second'), cache.size]).toEqual([true, undefined, 2])
    cache.close()
  })
})
