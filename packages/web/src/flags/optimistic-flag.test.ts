import type { Flag, FlagSummary, FlagWrite } from '@halyard/contract'
import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, it } from 'vitest'
import { sampleFlag, sampleSummary } from '../testing/sample-flag.ts'
import { applyPatch, cacheFlag, type FlagPages, flagKey, listKey, settlePatch } from './flag-cache.ts'

const project = '1'
let queries: QueryClient
beforeEach(() => {
  queries = new QueryClient()
  const page = { count: 1, results: [sampleSummary({ tags: ['old'] })] }
  queries.setQueryData<FlagPages>(listKey(project, 'live'), { pages: [page], pageParams: [0] })
})

const listed = (): FlagSummary => queries.getQueryData<FlagPages>(listKey(project, 'live'))!.pages[0]!.results[0]!
const single = (): Flag | undefined => queries.getQueryData<Flag>(flagKey(project, 1))
const apply = (patch: FlagWrite): FlagWrite => {
  applyPatch(queries, project, sampleFlag({ tags: ['old'] }), patch)
  return patch
}
const reject = (patch: FlagWrite) => settlePatch(queries, project, 1, patch)
const confirm = (patch: FlagWrite, response: Flag) => settlePatch(queries, project, 1, patch, response)

describe('an optimistic patch', () => {
  it('is shown immediately in the list and in the single flag', () => {
    apply({ active: false })
    expect(listed().active).toBe(false)
    expect(single()?.active).toBe(false)
  })

  it('that is rejected restores its own fields', () => {
    reject(apply({ active: false, name: 'New' }))
    expect(listed()).toMatchObject({ active: true, name: '', tags: ['old'] })
    expect(single()).toMatchObject({ active: true, name: '' })
  })

  it('that is rejected keeps a newer edit of another field', () => {
    const first = apply({ active: false })
    apply({ tags: ['new'] })
    reject(first)
    expect(listed()).toMatchObject({ active: true, tags: ['new'] })
  })

  it('that is rejected keeps a newer edit of the same field', () => {
    const first = apply({ name: 'First' })
    apply({ name: 'Second' })
    reject(first)
    expect(listed().name).toBe('Second')
  })

  it('that is rejected last does not bring back an earlier rejected value', () => {
    const first = apply({ name: 'First' })
    const second = apply({ name: 'Second' })
    reject(first)
    reject(second)
    expect(listed().name).toBe('')
  })

  it('that is rejected keeps newer data from the change stream', () => {
    const patch = apply({ active: false })
    cacheFlag(queries, project, sampleFlag({ version: 2, active: true, name: 'By another user' }))
    expect(listed()).toMatchObject({ active: false, name: 'By another user' })
    reject(patch)
    expect(listed()).toMatchObject({ active: true, name: 'By another user', version: 2 })
  })

  it('that is rejected keeps newer data of a refetch that bypassed the cache functions', () => {
    const patch = apply({ active: false })
    queries.setQueryData(flagKey(project, 1), sampleFlag({ version: 3, name: 'Refetched' }))
    reject(patch)
    expect(single()).toMatchObject({ version: 3, name: 'Refetched', active: true })
    expect(listed()).toMatchObject({ version: 3, name: 'Refetched' })
  })

  it('that is confirmed keeps a newer unconfirmed edit on top', () => {
    const first = apply({ active: false })
    apply({ name: 'Second' })
    confirm(first, sampleFlag({ version: 2, active: false }))
    expect(listed()).toMatchObject({ version: 2, active: false, name: 'Second' })
  })

  it('is not undone by a response that arrives out of order', () => {
    const first = apply({ active: false })
    const second = apply({ name: 'Second' })
    confirm(second, sampleFlag({ version: 3, active: false, name: 'Second' }))
    confirm(first, sampleFlag({ version: 2, active: false, name: '' }))
    expect(listed()).toMatchObject({ version: 3, active: false, name: 'Second' })
  })

  it('leaves nothing behind once it is settled', () => {
    confirm(apply({ active: false }), sampleFlag({ version: 2, active: false }))
    cacheFlag(queries, project, sampleFlag({ version: 1, active: true, name: 'Server' }))
    expect(listed()).toMatchObject({ active: true, name: 'Server' })
  })

  it('of a flag that no list holds is shown in the single flag alone', () => {
    const patch = { active: false }
    applyPatch(queries, project, sampleFlag({ id: 9 }), patch)
    expect(queries.getQueryData<Flag>(flagKey(project, 9))?.active).toBe(false)
    settlePatch(queries, project, 9, patch)
    expect(queries.getQueryData<Flag>(flagKey(project, 9))?.active).toBe(true)
  })
})
