import { type ApprovalPolicy, type Freeze, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'

const listedMax = '200'
const noFreezes: readonly Freeze[] = []
/** The push stream reports changes; a freeze begins and ends with time alone. */
const freezePollMilliseconds = 60_000

export const policiesKey = (projectId: string) => ['approval-policies', projectId] as const

export function useApprovalPolicies(projectId: string) {
  const call = useCall()
  return useQuery({
    queryKey: policiesKey(projectId),
    queryFn: async ({ signal }): Promise<readonly ApprovalPolicy[]> =>
      (
        await call(routes.approvalPolicies.list, {
          params: { project_id: projectId },
          query: { limit: listedMax },
          signal,
        })
      ).results,
    staleTime: 30_000,
  })
}

/** The freezes that concern a project. */
export function useFreezes(projectId: string): readonly Freeze[] {
  const call = useCall()
  const organization = useProject(projectId)?.organization
  const { data } = useQuery({
    queryKey: ['freezes', organization, projectId],
    queryFn: async ({ signal }) =>
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
  return data ?? noFreezes
}
