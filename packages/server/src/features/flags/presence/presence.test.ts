import { beforeEach, describe, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import type { EphemeralChange, EphemeralListener } from '../../../storage/changes/ephemeral-changes.ts'
import { createPresence } from './presence.ts'

let milliseconds: number
beforeEach(() => {
  milliseconds = 1_800_000_000_000
})
const now = () => instantOf(new Date(milliseconds))
const flag = { organizationId: 'o', projectId: 1, flagId: 7 }
const openBy = (user: string, isEditing = false, page = `page-of-${user}`) => ({ ...flag, user, page, isEditing })

/** Nodes that receive each other's changes at once. */
function startNodes(count: number, limits?: { pagesMax: number; pagesPerUserMax: number }) {
  const listeners = new Set<EphemeralListener>()
  const sent: EphemeralChange[] = []
  const ephemeral = {
    publish(change: EphemeralChange) {
      sent.push(change)
      for (const listener of listeners) listener([JSON.parse(JSON.stringify(change))])
    },
    subscribe(listener: EphemeralListener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const nodes = Array.from({ length: count }, () => createPresence({ ephemeral, now, ...(limits && { limits }) }))
  return { nodes, sent, ephemeral, listeners }
}
const start = (limits?: { pagesMax: number; pagesPerUserMax: number }) => {
  const { nodes, ...rest } = startNodes(1, limits)
  return { ...rest, presence: nodes[0]! }
}
const seenBy = (user: string) => ({ ...flag, user })

describe('presence', () => {
  it('lists the others on the flag, editors first, and each person once', () => {
    const { presence } = start()
    presence.report(openBy('anna', true))
    presence.report(openBy('ben', false))
    presence.report(openBy('ben', false, 'another-page'))
    presence.report({ ...openBy('cleo'), flagId: 8 })
    presence.report({ ...openBy('dora'), projectId: 2 })
    expect(presence.others(seenBy('eve'))).toEqual([
      { user: 'anna', isEditing: true },
      { user: 'ben', isEditing: false },
    ])
    expect(presence.others(seenBy('anna'))).toEqual([{ user: 'ben', isEditing: false }])
  })

  it('ends when the page is closed, and otherwise 90 seconds after the last report', () => {
    const { presence } = start()
    presence.report(openBy('anna'))
    presence.report(openBy('ben'))
    presence.leave(openBy('anna'))
    expect(presence.others(seenBy('eve'))).toEqual([{ user: 'ben', isEditing: false }])
    milliseconds += 60_000
    presence.report(openBy('ben'))
    milliseconds += 89_000
    expect(presence.others(seenBy('eve'))).toHaveLength(1)
    milliseconds += 1000
    expect(presence.others(seenBy('eve'))).toEqual([])
  })

  it('ends when the clock is set back', () => {
    const { presence } = start()
    presence.report(openBy('anna'))
    milliseconds -= 3_600_000
    expect(presence.others(seenBy('eve'))).toEqual([])
  })

  it('reaches other nodes, and renewals are sent to them less often', () => {
    const {
      nodes: [one, other],
      sent,
    } = startNodes(2)
    one!.report(openBy('anna', true))
    expect(other!.others(seenBy('eve'))).toEqual([{ user: 'anna', isEditing: true }])
    const kinds = () => sent.splice(0).map(({ presence }) => presence?.kind)
    expect(kinds()).toEqual(['changed'])
    for (let second = 0; second < 19; second += 1) {
      milliseconds += 1000
      other!.report(openBy('anna', true))
    }
    expect(kinds()).toEqual([])
    milliseconds += 1000
    other!.report(openBy('anna', true))
    expect(kinds()).toEqual(['renewed'])
    other!.report(openBy('anna', false))
    expect(kinds()).toEqual(['changed'])
    other!.leave(openBy('anna'))
    other!.leave(openBy('anna'))
    expect(kinds()).toEqual(['closed'])
    expect(one!.others(seenBy('eve'))).toEqual([])
  })

  it('keeps a limited number of pages: the newest of a user, and of all', () => {
    const { presence } = start({ pagesMax: 3, pagesPerUserMax: 2 })
    for (const page of ['first-page', 'second-page', 'third-page']) presence.report(openBy('anna', false, page))
    presence.report({ ...openBy('ben'), flagId: 8 })
    presence.leave(openBy('anna', false, 'second-page'))
    presence.leave(openBy('anna', false, 'third-page'))
    // The first page was forgotten.
    expect(presence.others(seenBy('eve'))).toEqual([])
    for (const user of ['cleo', 'dora', 'emil']) presence.report(openBy(user))
    expect(presence.others({ ...seenBy('eve'), flagId: 8 })).toEqual([])
    expect(presence.others(seenBy('eve'))).toHaveLength(3)
  })

  it('ignores messages of another format, and all after it is closed', () => {
    const { presence, ephemeral, listeners } = start()
    const change = { topic: 'presence', organizationId: 'o', projectId: 1, entityId: '7' } as const
    const notice = { user: 'anna', page: 'page', isEditing: false, kind: 'changed' } as const
    const broken = [
      change,
      { ...change, presence: { ...notice, user: 1 } },
      { ...change, presence: { ...notice, page: 'x'.repeat(65) } },
      { ...change, entityId: 'seven', presence: notice },
      { ...change, topic: 'plugin_log', presence: notice },
    ]
    for (const each of broken) ephemeral.publish(each as EphemeralChange)
    expect(presence.others(seenBy('eve'))).toEqual([])
    presence.close()
    expect(listeners.size).toBe(0)
  })
})
