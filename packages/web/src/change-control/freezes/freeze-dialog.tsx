import { routes } from '@halyard/contract'
import { Chip, Group, MultiSelect, NativeSelect, SegmentedControl, SimpleGrid, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useEnvironmentSets } from '../../flags/environments/environment-queries.ts'
import { useLanguage, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProjects } from '../../services/session-queries.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { useApprovers } from '../policies/use-approvers.ts'
import { type FreezeDraft, freezeToWire, isDayMissing, newFreezeDraft } from './freeze-draft.ts'
import { type Weekday, weekdayName, weekdays } from './freeze-rule.ts'

interface Props {
  organizationId: string
  onClose: () => void
}

const hoursMax = 31 * 24

/** A freeze, once or every week. */
export function FreezeDialog({ organizationId, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [draft, setDraft] = useState(newFreezeDraft)
  const change = (patch: Partial<FreezeDraft>) => setDraft(old => ({ ...old, ...patch }))
  const create = useMutation({
    mutationFn: () =>
      call(routes.freezes.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: freezeToWire(draft),
      }),
    onSuccess: async () => {
      notify.success({ message: t.freezes.created })
      await queries.invalidateQueries({ queryKey: ['freezes', organizationId] })
      onClose()
    },
  })
  return (
    <FormDialog
      size="lg"
      title={t.freezes.createTitle}
      label={t.common.create}
      error={create.error}
      isBusy={create.isPending}
      onSubmit={() => !isDayMissing(draft) && create.mutate()}
      onClose={onClose}
    >
      <TextField
        label={t.freezes.reason}
        data-autofocus
        required
        maxLength={1000}
        value={draft.reason}
        onChange={event => change({ reason: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label={t.freezes.kind}
        value={draft.kind}
        onChange={value => change({ kind: value as FreezeDraft['kind'] })}
        data={[
          { value: 'once', label: t.freezes.once },
          { value: 'recurring', label: t.freezes.recurring },
        ]}
      />
      {draft.kind === 'once' ? (
        <OnceFields draft={draft} onChange={change} />
      ) : (
        <WeeklyFields draft={draft} onChange={change} />
      )}
      <ScopeFields organizationId={organizationId} draft={draft} onChange={change} />
    </FormDialog>
  )
}

interface FieldsProps {
  draft: FreezeDraft
  onChange: (patch: Partial<FreezeDraft>) => void
}

function OnceFields({ draft, onChange }: FieldsProps) {
  const t = useMessages()
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextField
        type="datetime-local"
        label={t.freezes.starts}
        description={t.freezes.startsHint}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={draft.starts}
        onChange={event => onChange({ starts: event.currentTarget.value })}
      />
      <TextField
        type="datetime-local"
        label={t.freezes.ends}
        required
        value={draft.ends}
        onChange={event => onChange({ ends: event.currentTarget.value })}
      />
    </SimpleGrid>
  )
}

function WeeklyFields({ draft, onChange }: FieldsProps) {
  const t = useMessages()
  const { language } = useLanguage()
  return (
    <>
      <Chip.Group multiple value={[...draft.days]} onChange={value => onChange({ days: value as Weekday[] })}>
        <Group gap={4} role="group" aria-label={t.freezes.days}>
          {weekdays.map(day => (
            <Chip key={day} value={day} size="xs">
              {weekdayName(day, language, 'short')}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {isDayMissing(draft) && (
        <Text size="sm" c="red" role="alert">
          {t.freezes.daysNeeded}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextField
          type="time"
          label={t.freezes.startsAt}
          required
          value={draft.time}
          onChange={event => onChange({ time: event.currentTarget.value })}
        />
        <NumberField
          label={t.freezes.duration}
          required
          min={1}
          max={hoursMax}
          value={draft.hours}
          onChange={value => onChange({ hours: Number(value) })}
        />
      </SimpleGrid>
      <NativeSelect
        label={t.freezes.timeZone}
        value={draft.zone}
        onChange={event => onChange({ zone: event.currentTarget.value })}
        data={[...new Set([draft.zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
      />
    </>
  )
}

/** What is frozen, and which roles are exempt. */
function ScopeFields({ organizationId, draft, onChange }: FieldsProps & { organizationId: string }) {
  const t = useMessages()
  const sets = useEnvironmentSets(organizationId).data ?? []
  const projects = (useProjects().data ?? []).filter(({ organization }) => organization === organizationId)
  const { roles } = useApprovers(organizationId)
  return (
    <>
      <NativeSelect
        label={t.freezes.scope}
        value={draft.scope}
        onChange={event => onChange({ scope: event.currentTarget.value })}
        data={[
          { value: '', label: t.freezes.whole },
          ...sets.map(({ id, name }) => ({ value: `set ${id}`, label: t.freezes.set(name) })),
          ...projects.map(({ id, name }) => ({ value: `project ${id}`, label: t.freezes.project(name) })),
        ]}
      />
      <TextField
        label={t.freezes.tag}
        maxLength={255}
        value={draft.tag}
        onChange={event => onChange({ tag: event.currentTarget.value })}
      />
      <MultiSelect
        label={t.freezes.except}
        searchable
        data={roles}
        value={[...draft.exceptRoles]}
        onChange={exceptRoles => onChange({ exceptRoles })}
      />
    </>
  )
}
