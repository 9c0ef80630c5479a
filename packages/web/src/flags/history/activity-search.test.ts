import { describe, expect, it } from 'vitest'
import { activityQuery, readActivitySearch } from './activity-search.ts'

describe('the filters of the activity page', () => {
  it('ignore what makes no sense', () => {
    expect(
      readActivitySearch({ user: '', kind: 'updated', from: 'soon', to: '2026-02-31x', entry: 7, other: 1 }),
    ).toEqual({ kind: 'updated', entry: '7' })
  })

  it('include the whole last day', () => {
    expect(activityQuery({ user: 'u', from: '2026-01-31', to: '2026-01-31' })).toEqual({
      user: 'u',
      date_from: '2026-01-31T00:00:00Z',
      date_to: '2026-02-01T00:00:00Z',
    })
  })
})
