import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { workerBusGroup } from '../../testing/peer-group.ts'
import { createEphemeralChanges, type EphemeralChange } from './ephemeral-changes.ts'

const changeOf = (id: number): EphemeralChange => ({
  topic: 'plugin_log',
  organizationId: '0199f0a0-0000-7000-8000-000000000000',
  projectId: 2_000_000_000,
  entityId: String(2_000_000_000 + id),
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('ephemeral changes', () => {
  it('are delivered at once, and then at most once a second', () => {
    const received: EphemeralChange[][] = []
    const ephemeral = createEphemeralChanges({})
    ephemeral.subscribe(changes => received.push([...changes]))
    for (let n = 0; n < 100; n++) ephemeral.publish(changeOf(1))
    expect(received).toEqual([[changeOf(1)]])
    ephemeral.publish(changeOf(2))
    vi.advanceTimersByTime(999)
    expect(received).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(received[1]).toEqual([changeOf(1), changeOf(2)])
    vi.advanceTimersByTime(10_000)
    ephemeral.publish(changeOf(3))
    expect(received[2]).toEqual([changeOf(3)])
  })

  it('reach the sibling workers', () => {
    const [one, other] = workerBusGroup(2).map(bus => createEphemeralChanges({ bus }))
    const received: EphemeralChange[] = []
    other!.subscribe(changes => received.push(...changes))
    one!.publish(changeOf(1))
    expect(received).toEqual([changeOf(1)])
  })

  it('are sent to other nodes in messages of limited size, and are bounded in number', () => {
    const messages: string[] = []
    const [own, sibling] = workerBusGroup(2)
    const siblings: unknown[] = []
    sibling!.subscribe('ephemeral_changes', message => siblings.push(message))
    const ephemeral = createEphemeralChanges({ bus: own!, send: message => messages.push(message) > 0 })
    for (let id = 0; id < 5000; id++) ephemeral.publish(changeOf(id))
    vi.advanceTimersByTime(1000)
    expect(messages.length).toBe(1 + 1000 / 50)
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThan(8000)
    // A sibling listens to the same messages.
    expect(siblings).toEqual([])
    const received: EphemeralChange[] = []
    ephemeral.subscribe(changes => received.push(...changes))
    ephemeral.receive(messages[0]!)
    expect(received).toEqual([changeOf(0)])
  })

  it('ignore messages of another format', () => {
    const received: EphemeralChange[] = []
    const ephemeral = createEphemeralChanges({})
    ephemeral.subscribe(changes => received.push(...changes))
    for (const message of ['', '{', 'null', '{}', '[null, 1, {}]']) ephemeral.receive(message)
    expect(received).toEqual([])
  })
})
