import { adminLevel, auditorLevel, memberLevel, ownerLevel, viewOnlyLevel } from '@halyard/contract/levels'
import { describe, expect, it } from 'vitest'
import { assignableLevels, canChangeLevel, canEditAllFlags, canRemoveMember, canWrite, isAdmin } from './permissions.ts'

const viewer = (level: number) => ({ level, uuid: 'me' })
const member = (level: number, uuid = 'other') => ({ level, user: { uuid } })

describe('permissions', () => {
  it('admins and owners are admins', () => {
    expect([undefined, null, 0, memberLevel, adminLevel, ownerLevel].map(isAdmin)).toEqual([
      false,
      false,
      false,
      false,
      true,
      true,
    ])
  })

  it('view-only members write nothing', () => {
    expect([undefined, -1, viewOnlyLevel, memberLevel].map(canWrite)).toEqual([false, false, false, true])
  })

  it('roles edit all flags from the edit level on', () => {
    expect(canEditAllFlags({ feature_flags_access_level: 21 })).toBe(false)
    expect(canEditAllFlags({ feature_flags_access_level: 37 })).toBe(true)
  })

  it('admins change members up to their own level, never themselves', () => {
    expect(canChangeLevel(viewer(adminLevel), member(memberLevel))).toBe(true)
    expect(canChangeLevel(viewer(adminLevel), member(adminLevel))).toBe(true)
    expect(canChangeLevel(viewer(adminLevel), member(ownerLevel))).toBe(false)
    expect(canChangeLevel(viewer(memberLevel), member(memberLevel))).toBe(false)
    expect(canChangeLevel(viewer(ownerLevel), member(ownerLevel, 'me'))).toBe(false)
  })

  it('no one can be given more than the viewer’s own level', () => {
    expect(assignableLevels(viewer(memberLevel))).toEqual([])
    expect(assignableLevels(viewer(adminLevel))).toEqual([auditorLevel, viewOnlyLevel, memberLevel, adminLevel])
    expect(assignableLevels(viewer(ownerLevel))).toHaveLength(5)
  })

  it('members can leave, admins can remove, the last owner stays', () => {
    const owner = member(ownerLevel)
    const me = member(memberLevel, 'me')
    expect(canRemoveMember(viewer(memberLevel), me, [owner, me])).toBe(true)
    expect(canRemoveMember(viewer(memberLevel), member(memberLevel), [owner])).toBe(false)
    expect(canRemoveMember(viewer(adminLevel), member(memberLevel), [owner])).toBe(true)
    expect(canRemoveMember(viewer(adminLevel), owner, [owner, member(ownerLevel, 'second')])).toBe(false)
    const lastOwner = member(ownerLevel, 'me')
    expect(canRemoveMember(viewer(ownerLevel), lastOwner, [lastOwner, me])).toBe(false)
    expect(canRemoveMember(viewer(ownerLevel), lastOwner, [lastOwner, owner])).toBe(true)
  })
})
