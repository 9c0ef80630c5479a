import { describe, expect, it } from 'vitest'
import { type Flag, newFlagContent } from '../../../domain/flag.ts'
import { noDetails } from './flag-details.ts'
import { constantValue, failedChecks } from './flag-health.ts'

const now = '2026-06-15T12:00:00.000000Z'
const user = { id: 1, uuid: 'u', distinctId: 'd', firstName: 'Ada', email: 'ada@example.com', isEmailVerified: true }
const flagFrom = (createdAt: string, more: Partial<Flag> = {}): Flag => ({
  ...newFlagContent('flag', createdAt),
  id: 1,
  projectId: 1,
  createdBy: user,
  usageDashboardId: 1,
  version: 1,
  updatedAt: createdAt,
  lastModifiedBy: null,
  activeSince: createdAt,
  filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
  ...more,
})
const healthy = {
  flag: flagFrom('2026-01-01T00:00:00.000000Z'),
  lastCalledAt: '2026-06-15T11:00:00.000000Z',
  reachable: new Set([true, false]),
  details: { ...noDetails(1), owner: user, expectedEnd: '2026-06-15' },
}

describe('the health of a flag', () => {
  it('is good when it is used, varies, has an owner and is not past its end', () => {
    expect(failedChecks(healthy, now)).toEqual([])
    expect(constantValue(healthy)).toBe(null)
  })

  it('names each check that fails', () => {
    expect(failedChecks({ ...healthy, lastCalledAt: '2026-05-01T00:00:00.000000Z' }, now)).toEqual(['stale'])
    expect(failedChecks({ ...healthy, lastCalledAt: null }, now)).toEqual(['never_evaluated'])
    expect(failedChecks({ ...healthy, reachable: new Set([true]) }, now)).toEqual(['constant'])
    expect(failedChecks({ ...healthy, details: undefined }, now)).toEqual(['no_owner'])
    const ended = { ...healthy.details, expectedEnd: '2026-06-14' }
    expect(failedChecks({ ...healthy, details: ended }, now)).toEqual(['expired'])
    const full = flagFrom('2026-01-01T00:00:00.000000Z', { filters: { groups: [{ properties: [] }] } })
    expect(failedChecks({ ...healthy, flag: full }, now)).toEqual(['stale', 'fully_rolled_out'])
  })

  it('expects nothing of a new flag, and no variety of one that is off', () => {
    const young = flagFrom('2026-06-14T00:00:00.000000Z')
    expect(failedChecks({ ...healthy, flag: young, lastCalledAt: null }, now)).toEqual([])
    const off = { ...healthy, flag: { ...healthy.flag, active: false }, reachable: new Set([false]) }
    expect(failedChecks(off, now)).toEqual([])
  })
})
