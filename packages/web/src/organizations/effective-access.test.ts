import { describe, expect, it } from 'vitest'
import { effectiveAccess } from './effective-access.ts'

const member = (level = 1) => ({ level, user: { email: 'a@x.org' } })
const role = (feature_flags_access_level: number, members = 'a@x.org, b@x.org', associated_flags = '') => ({
  feature_flags_access_level,
  members,
  associated_flags,
})
const access = (roles: ReturnType<typeof role>[], organizationAccess?: number, defaultAccess = 37, level = 1) =>
  effectiveAccess(member(level), { roles, organizationAccess, defaultAccess })

describe('effective access to flags', () => {
  it('of members without a role is the default of the organization', () => {
    expect(access([])).toMatchObject({ canEdit: true, because: 'default' })
    expect(access([role(21, 'other@x.org')], undefined, 21)).toMatchObject({ canEdit: false, because: 'default' })
    expect(access([], 21)).toMatchObject({ canEdit: false, because: 'organization' })
  })

  it('of members with roles is the highest of them, plus single flags', () => {
    expect(access([role(21, 'a@x.org', 'one, two')])).toEqual({
      canEdit: false,
      because: 'role',
      extraFlags: ['one', 'two'],
    })
    expect(access([role(21), role(37)])).toMatchObject({ canEdit: true, because: 'role', extraFlags: [] })
  })

  it('of admins, and of everyone where the organization allows it, is to edit', () => {
    expect(access([role(21)], undefined, 21, 8)).toMatchObject({ canEdit: true, because: 'admin' })
    expect(access([role(21)], 37)).toMatchObject({ canEdit: true, because: 'organization' })
  })
})
