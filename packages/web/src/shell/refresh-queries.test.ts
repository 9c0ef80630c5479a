import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createQueryRefresher } from './refresh-queries.ts'

const keys = [
  ['cohort', '1', '7'],
  ['cohort', '1', '8'],
  ['cohort-people', '1', '7', 0, 5],
  ['cohorts', '1'],
  ['plugin-logs', '1', 3, { limit: '100' }],
  ['plugin-log-page', '1', 3, { limit: '100' }],
  ['plugin-jobs', '1', 3],
  ['plugin-jobs', '1', 4],
  ['schedules', '1'],
  ['presence', '1', '12', false],
  ['presence', '1', '13', true],
]

let queries: QueryClient
const staleKeys = () =>
  queries
    .getQueryCache()
    .findAll()
    .filter(({ state }) => state.isInvalidated)
    .map(({ queryKey }) => queryKey.slice(0, 3).join('/'))

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', { hidden: false })
  queries = new QueryClient()
  for (const key of keys) queries.setQueryData(key, [])
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const staleAfter = (act: (refresher: ReturnType<typeof createQueryRefresher>) => void) => {
  act(createQueryRefresher(queries))
  vi.runAllTimers()
  return staleKeys()
}
const change = (topic: string, id: string) => ({ topic, organization: 'o', project: 1, id })

describe('an announced change', () => {
  it.each([
    ['cohort_progress', '7', ['cohort/1/7']],
    ['cohort_count', '7', ['cohort/1/7', 'cohorts/1']],
    ['plugin_log', '3', ['plugin-logs/1/3']],
    ['plugin_job', '3', ['plugin-jobs/1/3']],
    ['presence', '12', ['presence/1/12']],
    ['schedule', '9', ['schedules/1']],
    ['unknown', '9', []],
  ])('%s refreshes only what it is about', (topic, id, expected) => {
    expect(staleAfter(({ soon }) => soon(change(topic, id)))).toEqual(expected)
  })

  it('may have been missed before the stream resumes, if it is ephemeral', () => {
    const expected = [
      ...['cohort/1/7', 'cohort/1/8', 'cohorts/1', 'plugin-logs/1/3', 'plugin-jobs/1/3', 'plugin-jobs/1/4'],
      ...['presence/1/12', 'presence/1/13'],
    ]
    expect(staleAfter(({ resumed }) => resumed())).toEqual(expected)
  })
})
