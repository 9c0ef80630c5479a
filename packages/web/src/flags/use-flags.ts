import { type Flag, type FlagWrite, routes } from '@halyard/contract'
import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useCall } from '../app/services.ts'

/** The first page is small, so that something is there at once; the rest follows in large ones. */
const firstPageSize = 200
const pageSize = 1000

type Kind = 'live' | 'deleted' | 'stale'
interface FlagPage {
  readonly count: number
  readonly results: readonly Flag[]
}

const filterOf = (kind: Kind) =>
  ({
    live: {},
    deleted: { deleted: 'true' },
    stale: { active: 'STALE' },
  })[kind]

/** All flags of a project, newest first: searching and sorting them needs no more requests. */
export function useFlags(projectId: string, kind: Kind = 'live') {
  const call = useCall()
  const query = useInfiniteQuery({
    queryKey: ['flags', projectId, kind],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<FlagPage> =>
      call(routes.flags.list, {
        params: { project_id: projectId },
        query: {
          ...filterOf(kind),
          limit: String(pageParam === 0 ? firstPageSize : pageSize),
          offset: String(pageParam),
        },
        signal,
      }),
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, page) => sum + page.results.length, 0)
      return last.results.length > 0 && loaded < last.count ? loaded : undefined
    },
    staleTime: 30_000,
  })
  const { hasNextPage, isFetching, fetchNextPage, isError } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])

  const pages = query.data?.pages
  const flags = useMemo(() => {
    if (!pages) return undefined
    // A flag that was created meanwhile shifts the pages by one: each counts once.
    return [...new Map(pages.flatMap(page => page.results).map(flag => [flag.id, flag])).values()]
  }, [pages])
  return { flags, total: pages?.[0]?.count ?? 0, isComplete: !hasNextPage, error: query.error, refetch: query.refetch }
}

/** Puts a changed flag into every list that holds it. */
export function rememberFlag(queries: QueryClient, projectId: string, flag: Flag): void {
  queries.setQueryData(['flag', projectId, String(flag.id)], flag)
  queries.setQueriesData<InfiniteData<FlagPage>>(
    { queryKey: ['flags', projectId] },
    data =>
      data && {
        ...data,
        pages: data.pages.map(page =>
          page.results.some(each => each.id === flag.id)
            ? { ...page, results: page.results.map(each => (each.id === flag.id ? flag : each)) }
            : page,
        ),
      },
  )
}

export const forgetLists = (queries: QueryClient, projectId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['flags', projectId] })

/** Changes one flag. The lists show the change at once and take it back if the server refuses. */
export function usePatchFlag(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ flag, patch }: { flag: Flag; patch: FlagWrite }) =>
      call(routes.flags.update, { params: { project_id: projectId, id: String(flag.id) }, body: patch }),
    onMutate: ({ flag, patch }) => rememberFlag(queries, projectId, { ...flag, ...patch } as Flag),
    onSuccess: flag => rememberFlag(queries, projectId, flag),
    onError: (_error, { flag }) => rememberFlag(queries, projectId, flag),
  })
}
