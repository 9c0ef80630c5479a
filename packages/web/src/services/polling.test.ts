import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { pollMilliseconds, pollUnstreamedQueries } from './polling.ts'

describe('polling', () => {
  it('happens at most every 30 seconds, and on focus, for data without a change stream', () => {
    const queries = new QueryClient()
    pollUnstreamedQueries(queries)
    for (const kind of ['persons', 'groups', 'group-types']) {
      expect(queries.getQueryDefaults([kind, '1'])).toEqual({
        refetchInterval: pollMilliseconds,
        refetchOnWindowFocus: 'always',
      })
    }
    expect(pollMilliseconds).toBeGreaterThanOrEqual(30_000)
  })

  it('does not happen for data that the change stream covers', () => {
    const queries = new QueryClient()
    pollUnstreamedQueries(queries)
    for (const kind of ['flags', 'plugins', 'plugin-configs', 'cohorts', 'members']) {
      expect(queries.getQueryDefaults([kind, '1'])).toEqual({})
    }
  })
})
