import type { QueryClient } from '@tanstack/react-query'

/** Below a second, so that what others do is seen within one. */
const lookAgainMilliseconds = 800

/** By the first part of their keys. Events change these all the time, which is not worth a word each; the rest is pushed. */
const kindsWithoutStream = ['group-types', 'groups', 'persons', 'plugin-configs', 'plugins']

/** What others do to things that have no stream of changes is seen by looking again, while somebody looks. */
export function pollUnstreamedQueries(queries: QueryClient): void {
  for (const kind of kindsWithoutStream) {
    queries.setQueryDefaults([kind], { refetchInterval: lookAgainMilliseconds })
  }
}
