import { describe, expect, it } from 'vitest'
import { conflictedPlaces, requestChanges } from './request-changes.ts'

const change = (field: string | null, before: unknown, after: unknown) => ({
  type: 'FeatureFlag',
  action: 'changed' as const,
  field,
  before,
  after,
})

describe('the changes of a request', () => {
  it('are what applying it now would change, without derived fields', () => {
    const content = {
      changes: [change('name', 'now', 'new'), change('version', 3, 4)],
      base: { name: 'then' },
      intent: { name: 'new' },
    }
    expect(requestChanges(content as never)).toEqual([{ field: 'name', before: 'now', after: 'new' }])
  })

  it('are what it asked for once it is closed', () => {
    const content = { changes: [], base: { name: 'then' }, intent: { name: 'new' } }
    expect(requestChanges(content as never)).toEqual([{ field: 'name', before: 'then', after: 'new' }])
  })
})

describe('the conflicts of a request', () => {
  it('show three sides of each place once, with all conditions together', () => {
    const side = (percent: number, payload: string, name: string) => ({
      filters: { groups: [{ rollout_percentage: percent }], payloads: { 'a.b': payload } },
      evaluation_runtime: name,
    })
    const places = conflictedPlaces({
      conflicts: ['filters.groups.0', 'filters.groups.1', 'filters.payloads.a.b', 'evaluationRuntime'],
      base: side(1, 'x', 'all'),
      current: side(2, 'y', 'client'),
      intent: side(3, 'z', 'server'),
    })
    expect(places).toEqual([
      {
        path: 'filters.groups',
        base: [{ rollout_percentage: 1 }],
        theirs: [{ rollout_percentage: 2 }],
        mine: [{ rollout_percentage: 3 }],
      },
      { path: 'filters.payloads.a.b', base: 'x', theirs: 'y', mine: 'z' },
      { path: 'evaluation_runtime', base: 'all', theirs: 'client', mine: 'server' },
    ])
  })
})
