import { type Flag, routes } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { isProblem } from '../api/problem.ts'
import { useCall } from '../services/services.ts'
import { flagKey } from './flag-cache.ts'

const relatedMax = 200
const none: readonly Flag[] = []

/** The flags that these filters depend on, directly or through others. Nothing else of the project is loaded. */
export function useRelatedFlags(projectId: string, filters: Readonly<Record<string, unknown>>): readonly Flag[] {
  const call = useCall()
  const queries = useQueryClient()
  const ids = [...usesFlags(filters)].map(String).sort()
  const related = useQuery({
    queryKey: ['related-flags', projectId, ids.join()],
    queryFn: () =>
      readRelated(ids, id =>
        queries.fetchQuery({
          queryKey: flagKey(projectId, id),
          queryFn: ({ signal }) => call(routes.flags.get, { params: { project_id: projectId, id }, signal }),
        }),
      ),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  })
  return ids.length === 0 ? none : (related.data ?? none)
}

/** Follows dependencies; a flag that does not exist is left out, and the editor reports it. */
export async function readRelated(ids: readonly string[], read: (id: string) => Promise<Flag>): Promise<Flag[]> {
  const flagById = new Map<string, Flag>()
  const seen = new Set<string>()
  let next = [...ids]
  while (next.length > 0 && flagById.size < relatedMax) {
    for (const id of next) seen.add(id)
    const flags = await Promise.all(next.slice(0, relatedMax).map(id => read(id).catch(ignoreMissing)))
    for (const flag of flags) if (flag) flagById.set(String(flag.id), flag)
    next = [...new Set(flags.flatMap(flag => (flag ? [...usesFlags(flag.filters)].map(String) : [])))].filter(
      id => !seen.has(id),
    )
  }
  return [...flagById.values()]
}

function ignoreMissing(error: unknown): undefined {
  if (isProblem(error) && (error.status === 404 || error.status === 400)) return undefined
  throw error
}
