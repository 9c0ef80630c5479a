import { describe, expect, it } from 'vitest'
import type { Change, ChangeListener, ChangeTopic } from '../storage/changes/changes.ts'
import { createInvalidatedCache } from './invalidated-cache.ts'

interface Note {
  readonly projectId: number
  readonly text: string
}

describe('a memory', () => {
  const listeners = new Set<ChangeListener>()
  const tell = (topic: ChangeTopic, projectId: number | null) => {
    const change: Change = { sequence: 1, topic, organizationId: null, projectId, entityId: '1', at: '' }
    for (const listener of listeners) void listener([change])
  }
  const open = (sizeMax = 100) =>
    createInvalidatedCache<Note>({
      changes: {
        subscribe(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      isConcerned: ({ topic }) => topic === 'flag' || topic === 'identity',
      projectOf: note => note.projectId,
      sizeOf: note => note.text.length,
      sizeMax,
    })
  const asked: string[] = []
  const found = (projectId: number, text: string) => async () => {
    asked.push(text)
    return { projectId, text }
  }
  const count = async (work: () => Promise<unknown>) => {
    const before = asked.length
    await work()
    return asked.length - before
  }

  it('asks once, until something changes that it rests on', async () => {
    const memory = open()
    const one = () => memory.get('one', found(1, 'one'))
    const two = () => memory.get('two', found(2, 'two'))
    expect(await count(one)).toBe(1)
    expect(await count(two)).toBe(1)
    expect(await count(one)).toBe(0)
    tell('cohort', 1)
    expect(await count(one)).toBe(0)
    tell('flag', 1)
    expect([await count(one), await count(two)]).toEqual([1, 0])
    tell('identity', null)
    expect([await count(one), await count(two)]).toEqual([1, 1])
    memory.close()
  })

  it('does not keep what may be old before it is kept', async () => {
    const memory = open()
    await memory.get('one', async () => {
      tell('flag', 1)
      return { projectId: 1, text: 'old' }
    })
    expect(await memory.get('one', found(1, 'new'))).toEqual({ projectId: 1, text: 'new' })
    memory.close()
  })

  it('keeps no absence, nothing too large, and never more than it may', async () => {
    const memory = open(10)
    expect(await memory.get('none', async () => undefined)).toBeUndefined()
    expect(await count(() => memory.get('none', found(1, 'there')))).toBe(1)
    expect(await count(() => memory.get('large', found(1, 'x'.repeat(11))))).toBe(1)
    expect(await count(() => memory.get('large', found(1, 'x'.repeat(11))))).toBe(1)
    await memory.get('second', found(1, 'second'))
    expect(await count(() => memory.get('none', found(1, 'there')))).toBe(1)
    memory.close()
  })
})
