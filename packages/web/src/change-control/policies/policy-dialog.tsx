import { type ApprovalPolicy, routes } from '@halyard/contract'
import { MultiSelect, NativeSelect, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { policiesKey } from '../../flags/gate/gate-queries.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { NumberField } from '../../ui/form/number-field.tsx'
import { ConditionFields } from './condition-fields.tsx'
import { conditionSentence, fitCondition } from './policy-condition.ts'
import { type Growth, type PolicyDraft, policyDraft, policyToWire } from './policy-draft.ts'
import { useApprovers } from './use-approvers.ts'

interface Props {
  projectId: string
  organizationId: string
  /** Undefined for a new policy. */
  policy: ApprovalPolicy | undefined
  onClose: () => void
}

/** As the server limits it. */
const quorumMax = 20

/** Who has to approve what, and when. */
export function PolicyDialog({ projectId, organizationId, policy, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [draft, setDraft] = useState(() => policyDraft(policy))
  const { action, condition } = draft
  const change = (patch: Partial<PolicyDraft>) => setDraft(old => ({ ...old, ...patch }))
  const save = useMutation({
    mutationFn: () => {
      const body = policyToWire(draft)
      const params = { project_id: projectId }
      return policy
        ? call(routes.approvalPolicies.update, { params: { ...params, policy_id: String(policy.id) }, body })
        : call(routes.approvalPolicies.create, { params, body })
    },
    onSuccess: async () => {
      notify.success({ message: t.policies.saved })
      await queries.invalidateQueries({ queryKey: policiesKey(projectId) })
      onClose()
    },
  })
  return (
    <FormDialog
      size="lg"
      title={policy ? t.policies.editTitle : t.policies.newTitle}
      label={t.common.save}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <NativeSelect
        label={t.policies.action}
        data-autofocus
        value={action}
        onChange={event => {
          const next = event.currentTarget.value
          change({ action: next, condition: condition && fitCondition(condition, next) })
        }}
        data={Object.entries(t.policies.actions).map(([value, label]) => ({ value, label }))}
      />
      {condition ? (
        <ConditionFields action={action} condition={condition} onChange={next => change({ condition: next })} />
      ) : (
        <Text size="sm">
          {conditionSentence(policy?.conditions ?? {}, t)}. {t.policies.customCondition}
        </Text>
      )}
      <ApprovalFields organizationId={organizationId} draft={draft} onChange={change} />
      <Switch
        label={t.policies.selfApprove}
        checked={draft.canSelfApprove}
        onChange={event => change({ canSelfApprove: event.currentTarget.checked })}
      />
      <Switch
        label={t.policies.enabled}
        checked={draft.isEnabled}
        onChange={event => change({ isEnabled: event.currentTarget.checked })}
      />
    </FormDialog>
  )
}

interface ApprovalProps {
  organizationId: string
  draft: PolicyDraft
  onChange: (patch: Partial<PolicyDraft>) => void
}

/** Whose approval counts, how many it takes, and how long it is valid. */
function ApprovalFields({ organizationId, draft, onChange }: ApprovalProps) {
  const t = useMessages()
  const { people, roles } = useApprovers(organizationId)
  return (
    <>
      <Stack gap={4} role="group" aria-label={t.policies.approvers}>
        <Text size="sm" fw={600}>
          {t.policies.approvers}
        </Text>
        <Text size="xs" c="dimmed">
          {t.policies.pickHint}
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <MultiSelect
            label={t.policies.people}
            searchable
            data={people}
            value={[...draft.users]}
            onChange={users => onChange({ users })}
          />
          <MultiSelect
            label={t.policies.roles}
            searchable
            data={roles}
            value={[...draft.roles]}
            onChange={next => onChange({ roles: next })}
          />
        </SimpleGrid>
      </Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberField
          label={t.policies.quorum}
          min={1}
          max={quorumMax}
          required
          value={draft.quorum}
          onChange={value => onChange({ quorum: Number(value) })}
        />
        <NumberField
          label={t.policies.expires}
          min={1 / 24}
          max={365}
          decimalScale={2}
          required
          value={draft.expiresAfterDays}
          onChange={value => onChange({ expiresAfterDays: Number(value) })}
        />
      </SimpleGrid>
      <GrowthFields growth={draft.growth} onChange={growth => onChange({ growth })} />
      <MultiSelect
        label={t.policies.emergencyRoles}
        description={t.policies.emergencyHint}
        searchable
        data={roles}
        value={[...draft.emergencyRoles]}
        onChange={emergencyRoles => onChange({ emergencyRoles })}
      />
    </>
  )
}

interface GrowthProps {
  growth: Growth
  onChange: (growth: Growth) => void
}

/** From which growth of the impact an approval no longer counts. */
function GrowthFields({ growth, onChange }: GrowthProps) {
  const t = useMessages()
  const field = (name: keyof Growth, label: string, max: number) => (
    <NumberField
      label={label}
      min={0}
      max={max}
      allowDecimal={false}
      value={growth[name] ?? ''}
      onChange={value => onChange({ ...growth, [name]: typeof value === 'number' ? value : null })}
    />
  )
  return (
    <Stack gap={4} role="group" aria-label={t.policies.reapprove}>
      <Text size="sm" fw={600}>
        {t.policies.reapprove}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {field('percent', t.policies.reapprovePercent, 1_000_000)}
        {field('people', t.policies.reapprovePeople, 1_000_000_000)}
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t.policies.reapproveHint}
      </Text>
    </Stack>
  )
}
