import { Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { useApprovalPolicies } from './gate-queries.ts'

/** Says that changes of a project may need approval, where it cannot be foreseen for each of them. */
export function ApprovalHint({ projectId }: { projectId: string }) {
  const t = useMessages()
  const isGated = useApprovalPolicies(projectId).data?.some(({ enabled }) => enabled) ?? false
  return isGated ? <Text size="sm">{t.gate.bulkNeedsApproval}</Text> : null
}
