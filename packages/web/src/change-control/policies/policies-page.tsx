import { type ApprovalPolicy, type Project, routes } from '@halyard/contract'
import { Badge, Button, Group, VisuallyHidden } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { policiesKey, useApprovalPolicies } from '../../flags/gate/gate-queries.ts'
import { useMessages } from '../../i18n/language.tsx'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { CheckIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { conditionSentence } from './policy-condition.ts'
import { useApprovers } from './use-approvers.ts'

const PolicyDialog = lazyComponent(async () => (await import('./policy-dialog.tsx')).PolicyDialog)

/** The approval policies of a project. */
export function PoliciesPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings/policies' })
  const project = useProject(projectId)
  const canEdit = project !== undefined && isAdmin(project.effective_membership_level)
  const [edited, setEdited] = useState<ApprovalPolicy | 'new'>()
  return (
    <Page
      title={t.policies.title}
      intro={t.policies.intro}
      actions={canEdit && <Button onClick={() => setEdited('new')}>{t.policies.create}</Button>}
    >
      {project && <Policies project={project} canEdit={canEdit} onEdit={setEdited} />}
      <Suspense fallback={null}>
        {project && edited && (
          <PolicyDialog
            projectId={projectId}
            organizationId={project.organization}
            policy={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </Page>
  )
}

interface Props {
  project: Project
  canEdit: boolean
  onEdit: (policy: ApprovalPolicy) => void
}

function Policies({ project, canEdit, onEdit }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const projectId = String(project.id)
  const policies = useApprovalPolicies(projectId)
  const approvers = useApprovers(project.organization)
  const remove = async (id: number) => {
    await call(routes.approvalPolicies.remove, { params: { project_id: projectId, policy_id: String(id) } })
    await queries.invalidateQueries({ queryKey: policiesKey(projectId) })
  }
  const nameOf = (action: string) => t.policies.actions[action] ?? action
  const whoOf = ({ approver_config: { users, roles } }: ApprovalPolicy): string => {
    const names = [
      ...users.map(id => approvers.people.find(({ value }) => value === String(id))?.label ?? `#${id}`),
      ...roles.map(id => approvers.roles.find(({ value }) => value === id)?.label ?? id),
    ]
    return names.length === 0 ? t.policies.anyAdmin : names.join(t.policies.or)
  }
  // Names of people and roles are part of the table.
  return (
    <Loaded query={{ ...policies, data: approvers.isPending ? undefined : policies.data }}>
      {policyList =>
        policyList.length === 0 ? (
          <EmptyState Icon={CheckIcon} title={t.policies.none} text={t.policies.noneText} />
        ) : (
          <DataTable
            label={t.policies.title}
            head={[t.policies.action, t.policies.condition, t.policies.approvers, '']}
            rows={policyList.map(policy => ({
              key: policy.id,
              cells: [
                <span key="action">
                  {nameOf(policy.action_key)}{' '}
                  {!policy.enabled && (
                    <Badge variant="light" color="gray">
                      {t.policies.disabled}
                    </Badge>
                  )}
                </span>,
                conditionSentence(policy.conditions, t),
                t.policies.quorumOf(policy.approver_config.quorum, whoOf(policy)),
                canEdit ? (
                  <Group key="actions" gap={4} wrap="nowrap">
                    <Button variant="subtle" size="compact-sm" onClick={() => onEdit(policy)}>
                      {t.policies.edit}
                      <VisuallyHidden>: {nameOf(policy.action_key)}</VisuallyHidden>
                    </Button>
                    <ConfirmButton
                      label={t.policies.remove}
                      of={nameOf(policy.action_key)}
                      question={t.policies.removeQuestion(nameOf(policy.action_key))}
                      detail={t.policies.removeDetail}
                      done={t.policies.removed}
                      onConfirm={() => remove(policy.id)}
                    />
                  </Group>
                ) : (
                  ''
                ),
              ],
            }))}
          />
        )
      }
    </Loaded>
  )
}
