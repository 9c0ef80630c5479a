import { type FlagWrite, routes } from '@halyard/contract'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'
import { freezeInForce, type Gate, isSwitchingOff, mayNeedApproval, openGate } from './gate.ts'
import { useApprovalPolicies, useFreezes } from './gate-queries.ts'

export interface ProposedSave {
  readonly projectId: string
  /** Undefined for a new flag. */
  readonly flag: { readonly id: number; readonly version: number; readonly tags: readonly unknown[] } | undefined
  readonly patch: FlagWrite
}

const waitMilliseconds = 300

/** Whether saving would be refused by a freeze or has to be approved. Costs a request only where policies exist. */
export function useGate({ projectId, flag, patch }: ProposedSave): Gate {
  const call = useCall()
  const { data: policies, isPending } = useApprovalPolicies(projectId)
  const freezes = useFreezes(projectId)
  const isChange = Object.keys(patch).length > 0
  const mayNeed = policies !== undefined && isChange && mayNeedApproval(policies, patch)
  const text = JSON.stringify(patch)
  const [debounced] = useDebouncedValue(text, waitMilliseconds)
  const foreseen = useQuery({
    queryKey: ['gate', projectId, flag?.id, flag?.version, debounced],
    queryFn: async ({ signal }) => {
      const { state } = await call(routes.changeRequests.create, {
        params: { project_id: projectId },
        body: { ...(flag && { flag_id: flag.id }), patch: JSON.parse(debounced) as FlagWrite, dry_run: true },
        signal,
      })
      return state === 'pending'
    },
    enabled: mayNeed && debounced === text,
    placeholderData: keepPreviousData,
    // An unfinished draft is refused; the editor says why.
    retry: false,
    staleTime: 10_000,
  })
  if (!isChange) return openGate
  if (isPending || freezes.isPending) return { kind: 'loading' }
  const frozen = isSwitchingOff(patch)
    ? undefined
    : freezeInForce(freezes.data ?? [], [...(flag?.tags ?? []), ...(patch.tags ?? [])])
  if (frozen?.current_end) {
    return { kind: 'frozen', until: frozen.current_end, reason: frozen.reason, canSwitchOff: flag !== undefined }
  }
  if (!mayNeed) return openGate
  if (foreseen.data === undefined) return { kind: foreseen.isError ? 'unknown' : 'loading' }
  return foreseen.data ? { kind: 'approval' } : openGate
}
