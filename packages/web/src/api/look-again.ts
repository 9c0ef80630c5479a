import type { QueryClient } from '@tanstack/react-query'

/** Below a second, so that what others do is seen within one. */
const lookAgainMilliseconds = 800

/** By the first part of their keys. Flags and cohorts are pushed; these have no stream. */
const kindsWithoutStream = [
  'api-keys',
  'group-types',
  'groups',
  'invites',
  'members',
  'organizations',
  'persons',
  'plugin-configs',
  'plugins',
  'projects',
  'role-access',
  'role-members',
  'roles',
  'schedules',
  'secret-keys',
]

/** What others do to things that have no stream of changes is seen by looking again, while somebody looks. */
export function lookAgain(queries: QueryClient): void {
  for (const kind of kindsWithoutStream) {
    queries.setQueryDefaults([kind], { refetchInterval: lookAgainMilliseconds })
  }
}
