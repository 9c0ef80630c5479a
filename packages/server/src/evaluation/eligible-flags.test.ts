import { compile } from '@halyard/engine'
import { describe, expect, it } from 'vitest'
import type { Flag } from '../domain/flag.ts'
import { eligibleFlags } from './eligible-flags.ts'
import { linearRegex } from './linear-regex.ts'
import type { ServedProject } from './projects/served-project.ts'

const flag = (id: number, key: string, more: Partial<Flag> = {}) =>
  ({ id, key, active: true, filters: {}, evaluationRuntime: null, evaluationContexts: [], ...more }) as unknown as Flag

const flags = [
  flag(1, 'everywhere'),
  flag(2, 'on-servers', { evaluationRuntime: 'server' }),
  flag(3, 'off', { active: false }),
  flag(4, 'in-checkout', { evaluationContexts: ['checkout'] }),
  flag(5, 'survey-targeting-x'),
]
const snapshot = compile({ flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 }, { regex: linearRegex })
const eligible = eligibleFlags({
  snapshot,
  flags: new Map(flags.map(one => [one.id, one])),
} as unknown as ServedProject)

describe('the flags that are returned', () => {
  const all = { runtime: undefined, contexts: [], keys: undefined }

  it('are those for the runtime of the client', () => {
    expect(eligible.for(all)).toEqual([0, 3, 4])
    expect(eligible.for({ ...all, runtime: 'server' })).toEqual([0, 1, 3, 4])
    expect(eligible.for(all, { withInactive: true })).toEqual([0, 2, 3, 4])
  })

  it('have one of the requested keys, each once, in definition order', () => {
    const keys = ['in-checkout', 'everywhere', 'no such flag', 'everywhere', 'on-servers', 'off']
    expect(eligible.for({ ...all, keys })).toEqual([0, 3])
    expect(eligible.for({ ...all, keys, runtime: 'server' })).toEqual([0, 1, 3])
    expect(eligible.for({ ...all, keys: [] })).toEqual([])
  })

  it('have one of the requested contexts or none; or are those of surveys', () => {
    expect(eligible.for({ ...all, contexts: ['other'] })).toEqual([0, 4])
    expect(eligible.for({ ...all, contexts: ['checkout'], keys: ['in-checkout'] })).toEqual([3])
    expect(eligible.for({ ...all, keys: ['everywhere', 'survey-targeting-x'] }, { onlySurveys: true })).toEqual([4])
  })
})
