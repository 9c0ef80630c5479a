import { type ApprovalPolicy, type Freeze, routes } from '@halyard/contract'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { Call } from '../../api/client.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'

const listedMax = '200'
/** The push stream reports changes; a freeze begins and ends with time alone. */
const freezePollMilliseconds = 60_000

export const policiesKey = (projectId: string) => ['approval-policies', projectId] as const

const policiesOf = (call: Call, projectId: string) => ({
  queryKey: policiesKey(projectId),
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<readonly ApprovalPolicy[]> =>
    (
      await call(routes.approvalPolicies.list, {
        params: { project_id: projectId },
        query: { limit: listedMax },
        signal,
      })
    ).results,
  staleTime: 30_000,
})

export const useApprovalPolicies = (projectId: string) => useQuery(policiesOf(useCall(), projectId))

/** Whether it is still unknown which of the projects have policies. */
export function useArePoliciesLoading(projectIds: readonly string[]): boolean {
  const call = useCall()
  return useQueries({ queries: projectIds.map(id => policiesOf(call, id)) }).some(({ isPending }) => isPending)
}

/** The freezes that concern a project. */
export function useFreezes(projectId: string) {
  const call = useCall()
  const organization = useProject(projectId)?.organization
  return useQuery({
    queryKey: ['freezes', organization, projectId],
    queryFn: async ({ signal }): Promise<readonly Freeze[]> =>
      (
        await call(routes.freezes.list, {
          params: { parent_lookup_organization_id: organization ?? '' },
          query: { project: projectId, limit: listedMax },
          signal,
        })
      ).results,
    enabled: organization !== undefined,
    staleTime: 30_000,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? freezePollMilliseconds : false),
  })
}
