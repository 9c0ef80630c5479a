import type { QueryClient } from '@tanstack/react-query'
import type { Change } from '../live/change-stream.ts'

/** Which queries a change may affect, by the first part of their keys; flags and cohorts are updated one by one. */
const kindsOf: Readonly<Record<string, readonly string[]>> = {
  flag: ['flag-copies', 'environment-flags'],
  project: ['environment-sets', 'projects', 'organizations', 'secret-keys', 'group-types'],
  identity: ['me', 'projects', 'organizations', 'members', 'invites', 'roles', 'role-members', 'api-keys'],
  access: ['invites', 'roles', 'role-members', 'role-access'],
  schedule: ['schedules', 'flag-history', 'activity'],
  change_request: ['change-requests', 'approval-policies', 'freezes', 'gate', 'flag-history', 'activity'],
  plugin: ['plugins', 'plugin-configs'],
  sdk: ['connected-sdks'],
}
const allKinds = new Set(Object.values(kindsOf).flat())

/** Batches a burst of changes into one refresh. */
const gatherMilliseconds = 50

/** Invalidates the visible queries that a change may affect. */
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
    /** Without a change: everything is invalidated. */
    soon(change: Change | undefined) {
      for (const kind of change ? (kindsOf[change.topic] ?? []) : allKinds) stale.add(kind)
      now()
    },
    now,
    stop: () => clearTimeout(timer),
  }
}
