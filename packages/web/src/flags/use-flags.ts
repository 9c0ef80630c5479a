import { type Flag, type FlagWrite, routes } from '@halyard/contract'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { SaveMode } from '../change-control/gate/save-mode.ts'
import { useCall } from '../services/services.ts'
import { applyPatch, type FlagKind, type FlagPage, type FlagPages, listKey, settlePatch } from './flag-cache.ts'
import { saveFlag } from './save-flag.ts'

/** The first page is small, so that rows appear quickly; the rest follows in one batch. */
const firstPageSize = 100
/** The server's maximum page size. */
const pageSize = 1000
const requestsAtOnceMax = 4
/** The server search returns at most this many flags while the rest is loading. */
const foundMax = '50'

const filterOf = (kind: FlagKind) =>
  ({
    live: {},
    deleted: { deleted: 'true' },
    stale: { active: 'STALE' },
    archived: { archived: 'true' },
  })[kind]

/** All flags of a project, newest first: search and sort need no further requests. */
export function useFlags(projectId: string, kind: FlagKind = 'live') {
  const call = useCall()
  const queries = useQueryClient()
  const query = useInfiniteQuery({
    queryKey: listKey(projectId, kind),
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<FlagPage> => {
      const read = (limit: number, offset: number): Promise<FlagPage> =>
        call(routes.flags.list, {
          params: { project_id: projectId },
          query: { ...filterOf(kind), limit: String(limit), offset: String(offset) },
          signal,
        })
      if (pageParam === 0) return read(firstPageSize, 0)
      const known = queries.getQueryData<FlagPages>(listKey(projectId, kind))
      return readRest(read, pageParam, known?.pages[0]?.count ?? pageParam + 1)
    },
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, page) => sum + page.results.length, 0)
      return last.results.length > 0 && loaded < last.count ? loaded : undefined
    },
    // The change stream keeps the lists current; only staleness changes with time alone.
    staleTime: kind === 'stale' ? 30_000 : Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  const { hasNextPage, isFetching, fetchNextPage, isError } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])

  const pages = query.data?.pages
  const flags = useMemo(() => {
    if (!pages) return undefined
    // A flag created between two requests shifts the pages by one, so duplicates are dropped.
    return [...new Map(pages.flatMap(page => page.results).map(flag => [flag.id, flag])).values()]
  }, [pages])
  return { flags, total: pages?.[0]?.count ?? 0, isComplete: !hasNextPage, error: query.error, refetch: query.refetch }
}

/** Reads from an offset to the end, several pages in parallel. */
async function readRest(
  read: (limit: number, offset: number) => Promise<FlagPage>,
  from: number,
  count: number,
): Promise<FlagPage> {
  const offsets = Array.from({ length: Math.ceil((count - from) / pageSize) || 1 }, (_, page) => from + page * pageSize)
  const pages: FlagPage[] = []
  let next = 0
  const work = async () => {
    for (let at = next++; at < offsets.length; at = next++) pages[at] = await read(pageSize, offsets[at] as number)
  }
  await Promise.all(Array.from({ length: requestsAtOnceMax }, work))
  return { count: pages.at(-1)?.count ?? 0, results: pages.flatMap(page => page.results) }
}

/** Server-side search results, used until all flags are loaded. */
export function useFoundFlags(projectId: string, kind: FlagKind, text: string, isWanted: boolean): readonly Flag[] {
  const call = useCall()
  const found = useQuery({
    queryKey: ['flags-found', projectId, kind, text],
    queryFn: ({ signal }) =>
      call(routes.flags.list, {
        params: { project_id: projectId },
        query: { ...filterOf(kind), search: text, limit: foundMax },
        signal,
      }),
    enabled: isWanted && text.trim() !== '',
    gcTime: 0,
  })
  return (isWanted && found.data?.results) || none
}

const none: readonly Flag[] = []

/** Updates one flag optimistically and rolls back only its own fields if the server rejects the change. */
export function usePatchFlag(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ flag, patch, mode }: { flag: Flag; patch: FlagWrite; mode: SaveMode }) =>
      saveFlag(call, { projectId, flagId: flag.id, patch }, mode),
    onMutate: ({ flag, patch, mode }) => {
      if (mode.kind !== 'request') applyPatch(queries, projectId, flag, patch)
    },
    onSuccess: (outcome, { flag, patch }) =>
      settlePatch(queries, projectId, flag.id, patch, outcome.kind === 'saved' ? outcome.flag : undefined),
    onError: (_error, { flag, patch }) => settlePatch(queries, projectId, flag.id, patch),
  })
}
