import { describe, expect, it } from 'vitest'
import type { Change } from '../../storage/changes/changes.ts'
import { createRecentChanges } from './recent-changes.ts'

const change = (sequence: number, at = '2026-01-01T00:00:00.000000Z'): Change => ({
  sequence,
  topic: 'flag',
  organizationId: 'o',
  projectId: 1,
  entityId: String(sequence),
  at: at as Change['at'],
})
const sequences = (found: ReturnType<ReturnType<typeof createRecentChanges>['after']>) =>
  found?.map(each => each.change.sequence)

describe('recent changes', () => {
  it('are those after a position, which is the same on every node', () => {
    const [here, there] = [createRecentChanges(10), createRecentChanges(10)]
    const start = here.position()
    expect(sequences(here.after(start))).toEqual([])
    here.add([change(1)])
    const one = here.position()
    here.add([change(2), change(3)])
    there.add([change(1), change(2), change(3)])
    expect(sequences(here.after(start))).toEqual([1, 2, 3])
    expect(sequences(there.after(one))).toEqual([2, 3])
    expect(there.after(start)).toBeUndefined()
    expect(here.after(undefined)).toBeUndefined()
    expect(here.position()).toBe(there.position())
  })

  it('resume on a node that has just started, without any change since', () => {
    const before = createRecentChanges(10)
    before.add([change(1), change(2)])
    const restarted = createRecentChanges(10, change(2))
    expect(restarted.position()).toBe(before.position())
    restarted.add([change(3)])
    expect(sequences(restarted.after(before.position()))).toEqual([3])
  })

  it('are bounded', () => {
    const recent = createRecentChanges(2)
    recent.add([change(1)])
    const one = recent.position()
    recent.add([change(2), change(3)])
    expect(sequences(recent.after(one))).toEqual([2, 3])
    recent.add([change(4)])
    expect(recent.after(one)).toBeUndefined()
  })

  it('know no position of a database that lost changes', () => {
    const recent = createRecentChanges(10)
    recent.add([change(1), change(2)])
    const before = recent.position()
    recent.reset()
    recent.add([change(2, '2026-01-02T00:00:00.000000Z')])
    expect(recent.after(before)).toBeUndefined()
  })
})
