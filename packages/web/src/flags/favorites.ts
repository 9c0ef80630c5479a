import { routes } from '@halyard/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../services/services.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { windowKey } from './flag-cache.ts'

const favoritesKey = (projectId: string) => ['favorites', projectId] as const

/** The user's favorites in a project. */
export function useFavorites(projectId: string): ReadonlySet<number> {
  const call = useCall()
  const flagIds = useQuery({
    queryKey: favoritesKey(projectId),
    queryFn: ({ signal }) => call(routes.savedViews.listFavorites, { params: { project_id: projectId }, signal }),
    staleTime: 60_000,
  }).data
  return useMemo(() => new Set(flagIds), [flagIds])
}

export function useSetFavorite(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  return useMutation({
    mutationFn: ({ flagId, isFavorite }: { flagId: number; isFavorite: boolean }) =>
      call(isFavorite ? routes.savedViews.addFavorite : routes.savedViews.removeFavorite, {
        params: { project_id: projectId, id: String(flagId) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: favoritesKey(projectId) })
      await queries.invalidateQueries({ queryKey: windowKey(projectId) })
    },
    onError: error => notify.fail(error),
  })
}
