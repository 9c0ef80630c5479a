import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { pollMilliseconds } from './polling.ts'
import { useCall } from './services.ts'

/** Whether an application calls the project: the SDKs that did, and when a flag was evaluated last. */
export function useFirstCall(projectId: string) {
  const call = useCall()
  const sdks = useQuery({
    queryKey: ['connected-sdks', projectId],
    queryFn: ({ signal }) => call(routes.sdkUsage.list, { params: { project_id: projectId }, signal }),
    // A new SDK is pushed; its counts are not.
    refetchInterval: pollMilliseconds,
  })
  const isUnseen = sdks.data?.length === 0
  const evaluated = useLastEvaluated(projectId, isUnseen)
  const lastEvaluated = evaluated.data ?? null
  return {
    sdks,
    lastEvaluated,
    isPending: sdks.isPending || (isUnseen && evaluated.isPending),
    isReceived: sdks.data !== undefined && (!isUnseen || lastEvaluated !== null),
  }
}

/** Evaluations may be reported by events alone, as by SDKs that evaluate locally: the list of flags counts them too. */
function useLastEvaluated(projectId: string, isWanted: boolean) {
  const call = useCall()
  const params = { project_id: projectId }
  return useQuery({
    queryKey: ['flag-usage', projectId, 'last evaluated'],
    queryFn: async ({ signal }) => {
      const query = { order: '-last_called_at', limit: '1' }
      const [flag] = (await call(routes.flagList.list, { params, query, signal })).results
      if (!flag) return null
      const [usage] = await call(routes.flagList.usage, { params, query: { ids: String(flag.id) }, signal })
      return usage?.last_called_at ?? null
    },
    enabled: isWanted,
    refetchInterval: pollMilliseconds,
  })
}
