import type { QueryClient } from '@tanstack/react-query'

const lookAgainMilliseconds = 800

const kindsWithoutStream = ['group-types', 'groups', 'persons', 'plugin-configs', 'plugins']

export function pollUnstreamedQueries(queries: QueryClient): void {
  for (const kind of kindsWithoutStream) {
    queries.setQueryDefaults([kind], { refetchInterval: lookAgainMilliseconds })
  }
}
