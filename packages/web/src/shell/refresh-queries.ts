import type { QueryClient } from '@tanstack/react-query'
import type { Change } from '../live/change-stream.ts'

/** Which lists a change may be in, by the first part of their keys; flags and cohorts themselves are caught up with one by one. */
const kindsOf: Readonly<Record<string, readonly string[]>> = {
  flag: ['flag-copies'],
  project: ['projects', 'organizations', 'secret-keys', 'group-types'],
  identity: ['me', 'projects', 'organizations', 'members', 'invites', 'roles', 'role-members', 'api-keys'],
  access: ['invites', 'roles', 'role-members', 'role-access'],
  schedule: ['schedules', 'flag-history', 'activity'],
  plugin: ['plugins', 'plugin-configs'],
}
const allKinds = new Set(Object.values(kindsOf).flat())

/** Many changes in a row are one refresh. */
const gatherMilliseconds = 50

/** Reads the lists anew that a change may be in, if they are in sight. */
export function createQueryRefresher(queries: QueryClient) {
  const stale = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function run(): void {
    timer = undefined
    const kinds = new Set(stale)
    stale.clear()
    queries.invalidateQueries({ predicate: ({ queryKey }) => kinds.has(String(queryKey[0])) })
  }
  const now = () => {
    if (stale.size > 0 && !document.hidden) timer ??= setTimeout(run, gatherMilliseconds)
  }
  return {
    /** Without a change: anything may have changed. */
    soon(change: Change | undefined) {
      for (const kind of change ? (kindsOf[change.topic] ?? []) : allKinds) stale.add(kind)
      now()
    },
    now,
    stop: () => clearTimeout(timer),
  }
}
