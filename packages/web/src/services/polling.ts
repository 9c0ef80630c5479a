import type { QueryClient } from '@tanstack/react-query'

/** The shortest interval between two requests for the same data: changes are pushed. */
export const pollMilliseconds = 30_000

/** First parts of the query keys. Events change these too often to push each change; everything else is streamed. */
const unstreamedKinds = ['group-types', 'groups', 'persons']

/** Refreshes data without change notifications: at a long interval, and whenever the tab gets the focus. */
export function pollUnstreamedQueries(queries: QueryClient): void {
  for (const kind of unstreamedKinds) {
    queries.setQueryDefaults([kind], { refetchInterval: pollMilliseconds, refetchOnWindowFocus: 'always' })
  }
}
