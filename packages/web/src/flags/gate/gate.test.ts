import type { ApprovalPolicy, Freeze } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { freezeInForce, isSwitchingOff, mayNeedApproval } from './gate.ts'
import { saveHeaders } from './save-mode.ts'

const freeze = (fields: Partial<Freeze>) => ({ current_end: null, tag: null, ...fields }) as Freeze
const policy = (action_key: string, enabled = true) => ({ action_key, enabled }) as ApprovalPolicy

describe('the gate before a save', () => {
  it('is frozen by the freeze in force that ends last and fits the tags', () => {
    const short = freeze({ id: 1, current_end: '2026-01-01T10:00:00Z' })
    const long = freeze({ id: 2, current_end: '2026-01-02T10:00:00Z' })
    const tagged = freeze({ id: 3, current_end: '2026-01-03T10:00:00Z', tag: 'checkout' })
    const over = freeze({ id: 4 })
    expect(freezeInForce([over], [])).toBeUndefined()
    expect(freezeInForce([short, long, tagged, over], [])?.id).toBe(2)
    expect(freezeInForce([short, long, tagged, over], ['checkout'])?.id).toBe(3)
  })

  it('lets switching off pass unless a policy names it', () => {
    expect(isSwitchingOff({ active: false })).toBe(true)
    expect(isSwitchingOff({ active: false, name: 'x' })).toBe(false)
    expect(isSwitchingOff({ active: true })).toBe(false)
    expect(mayNeedApproval([policy('*')], { active: false })).toBe(false)
    expect(mayNeedApproval([policy('feature_flag.disable')], { active: false })).toBe(true)
    expect(mayNeedApproval([policy('*')], { active: true })).toBe(true)
    expect(mayNeedApproval([policy('*', false)], { active: true })).toBe(false)
    expect(mayNeedApproval([], { active: true })).toBe(false)
  })
})

describe('the headers of a save', () => {
  it('carry a note or the reason of an emergency in ASCII', () => {
    expect(saveHeaders({ kind: 'save', note: ' ' })).toEqual({})
    expect(saveHeaders({ kind: 'save', note: 'Größer' })).toEqual({ 'x-halyard-note': 'Gr%C3%B6%C3%9Fer' })
    expect(saveHeaders({ kind: 'emergency', reason: 'Down' })).toEqual({ 'x-halyard-emergency': 'Down' })
  })
})
