import { type ApprovalPolicy, type ApprovalPolicyWrite, routes } from '@halyard/contract'
import { Button, Group, MultiSelect, NativeSelect, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { policiesKey } from '../gate/gate-queries.ts'
import {
  type ConditionDraft,
  type ConditionType,
  choicesFor,
  conditionSentence,
  emptyCondition,
  fieldName,
  fieldsFor,
  fieldType,
  fitCondition,
  operatorsFor,
  readCondition,
  typesFor,
  writeCondition,
} from './policy-condition.ts'
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
const expiresAfterHoursDefault = 14 * 24

/** Who has to approve what, and when. */
export function PolicyDialog({ projectId, organizationId, policy, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const { people, roles } = useApprovers(organizationId)
  const [action, setAction] = useState(policy?.action_key ?? '*')
  const read = policy ? readCondition(policy.conditions) : emptyCondition
  const [condition, setCondition] = useState(read ?? emptyCondition)
  const [users, setUsers] = useState((policy?.approver_config.users ?? []).map(String))
  const [roleIds, setRoleIds] = useState<string[]>([...(policy?.approver_config.roles ?? [])])
  const [quorum, setQuorum] = useState(policy?.approver_config.quorum ?? 1)
  const [hours, setHours] = useState(policy?.expires_after_hours ?? expiresAfterHoursDefault)
  const [canSelf, setCanSelf] = useState(policy?.allow_self_approve ?? false)
  const [emergencyRoles, setEmergencyRoles] = useState<string[]>([...(policy?.emergency_roles ?? [])])
  const [growth, setGrowth] = useState<Growth>({
    percent: policy ? policy.reapprove_percent : reapproveDefaults.percent,
    people: policy ? policy.reapprove_people : reapproveDefaults.people,
  })
  const [isEnabled, setIsEnabled] = useState(policy?.enabled ?? true)
  const save = useMutation({
    mutationFn: () => {
      const body = {
        action_key: action as NonNullable<ApprovalPolicyWrite['action_key']>,
        ...(read && { conditions: writeCondition(condition) }),
        approver_config: { quorum, users: users.map(Number), roles: roleIds },
        allow_self_approve: canSelf,
        expires_after_hours: hours,
        reapprove_percent: growth.percent,
        reapprove_people: growth.people,
        emergency_roles: emergencyRoles,
        enabled: isEnabled,
      }
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog size="lg" title={policy ? t.policies.editTitle : t.policies.newTitle} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <NativeSelect
            label={t.policies.action}
            data-autofocus
            value={action}
            onChange={event => {
              setAction(event.currentTarget.value)
              setCondition(fitCondition(condition, event.currentTarget.value))
            }}
            data={Object.entries(t.policies.actions).map(([value, label]) => ({ value, label }))}
          />
          {read ? (
            <ConditionFields action={action} condition={condition} onChange={setCondition} />
          ) : (
            <Text size="sm">
              {conditionSentence(policy?.conditions ?? {}, t)}. {t.policies.customCondition}
            </Text>
          )}
          <MultiSelect
            label={t.policies.people}
            description={t.policies.pickHint}
            searchable
            data={people}
            value={users}
            onChange={setUsers}
          />
          <MultiSelect label={t.policies.roles} searchable data={roles} value={roleIds} onChange={setRoleIds} />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberField
              label={t.policies.quorum}
              min={1}
              max={quorumMax}
              required
              value={quorum}
              onChange={value => setQuorum(Number(value))}
            />
            <NumberField
              label={t.policies.expires}
              min={1}
              max={24 * 365}
              required
              value={hours}
              onChange={value => setHours(Number(value))}
            />
          </SimpleGrid>
          <GrowthFields growth={growth} onChange={setGrowth} />
          <MultiSelect
            label={t.policies.emergencyRoles}
            description={t.policies.emergencyHint}
            searchable
            data={roles}
            value={emergencyRoles}
            onChange={setEmergencyRoles}
          />
          <Switch
            label={t.policies.selfApprove}
            checked={canSelf}
            onChange={event => setCanSelf(event.currentTarget.checked)}
          />
          <Switch
            label={t.policies.enabled}
            checked={isEnabled}
            onChange={event => setIsEnabled(event.currentTarget.checked)}
          />
          <ProblemAlert error={save.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Null for no limit. */
interface Growth {
  readonly percent: number | null
  readonly people: number | null
}

const reapproveDefaults: Growth = { percent: 10, people: 1000 }

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

interface ConditionProps {
  action: string
  condition: ConditionDraft
  onChange: (condition: ConditionDraft) => void
}

function ConditionFields({ action, condition, onChange }: ConditionProps) {
  const t = useMessages()
  const { type, field, operator, value } = condition
  const hasField = type === 'any_change' || type === 'before_after' || type === 'change_amount'
  const isCompared = type === 'before_after' || type === 'change_amount'
  const hasNumber = type === 'people_affected' || type === 'losses'
  const change = (patch: Partial<ConditionDraft>) => onChange(fitCondition({ ...condition, ...patch }, action))
  return (
    <>
      <NativeSelect
        label={t.policies.condition}
        value={type}
        onChange={event => change({ type: event.currentTarget.value as ConditionType })}
        data={typesFor(action).map(each => ({ value: each, label: t.policies.conditions[each] ?? each }))}
      />
      {hasField && (
        <Group grow align="flex-start">
          <NativeSelect
            label={t.policies.field}
            value={field}
            onChange={event => change({ field: event.currentTarget.value })}
            data={fieldsFor(type, field).map(each => ({ value: each, label: fieldName(each, t) }))}
          />
          {isCompared && (
            <NativeSelect
              label={t.policies.operator}
              value={operator}
              onChange={event => change({ operator: event.currentTarget.value })}
              data={[...operatorsFor(field)]}
            />
          )}
          {isCompared && <ComparedValue condition={condition} onChange={next => change({ value: next })} />}
        </Group>
      )}
      {hasNumber && (
        <NumberField
          label={t.policies.number}
          min={0}
          required
          value={value}
          onChange={next => change({ value: String(next) })}
        />
      )}
      {type === 'tag' && (
        <TextField
          label={t.policies.tag}
          required
          value={value}
          onChange={event => change({ value: event.currentTarget.value })}
        />
      )}
    </>
  )
}

interface ValueProps {
  condition: ConditionDraft
  onChange: (value: string) => void
}

/** What the field is compared with: a percentage, a choice or text. */
function ComparedValue({ condition: { type, field, value }, onChange }: ValueProps) {
  const t = useMessages()
  const choices = choicesFor(field)
  if (choices) {
    const labels: Readonly<Record<string, string>> = { true: t.words.yes, false: t.words.no }
    return (
      <NativeSelect
        label={t.policies.value}
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
        data={choices.map(each => ({ value: each, label: labels[each] ?? each }))}
      />
    )
  }
  if (fieldType(field) === 'percentage') {
    return (
      <NumberField
        label={t.policies.value}
        min={type === 'change_amount' ? -100 : 0}
        max={100}
        suffix=" %"
        required
        value={value}
        onChange={next => onChange(String(next))}
      />
    )
  }
  return (
    <TextField
      label={t.policies.value}
      required
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}
