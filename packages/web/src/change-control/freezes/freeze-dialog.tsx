import { routes } from '@halyard/contract'
import {
  Button,
  Chip,
  Group,
  MultiSelect,
  NativeSelect,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLanguage, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProjects } from '../../services/session-queries.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { useEnvironmentSets } from '../environment-queries.ts'
import { useApprovers } from '../policies/use-approvers.ts'
import { type Weekday, weekdayName, weekdays, writeWeeklyRule } from './freeze-rule.ts'

interface Props {
  organizationId: string
  onClose: () => void
}

const hoursMax = 31 * 24

/** A freeze, once or every week. */
export function FreezeDialog({ organizationId, onClose }: Props) {
  const t = useMessages()
  const { language } = useLanguage()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const sets = useEnvironmentSets(organizationId).data ?? []
  const projects = (useProjects().data ?? []).filter(({ organization }) => organization === organizationId)
  const [reason, setReason] = useState('')
  const [kind, setKind] = useState<'once' | 'recurring'>('once')
  const [starts, setStarts] = useState('')
  const [ends, setEnds] = useState('')
  const [days, setDays] = useState<Weekday[]>(['FR'])
  const [time, setTime] = useState('16:00')
  const [hours, setHours] = useState(64)
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  const [scope, setScope] = useState('')
  const [tag, setTag] = useState('')
  const [exceptRoles, setExceptRoles] = useState<string[]>([])
  const { roles } = useApprovers(organizationId)
  const create = useMutation({
    mutationFn: () => {
      const [what, id] = scope.split(' ')
      return call(routes.freezes.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: {
          reason,
          ...(what === 'set' && { environment_set: Number(id) }),
          ...(what === 'project' && { project: Number(id) }),
          ...(tag.trim() !== '' && { tag: tag.trim() }),
          ...(exceptRoles.length > 0 && { except_roles: exceptRoles }),
          ...(kind === 'once'
            ? {
                ...(starts !== '' && { starts_at: new Date(starts).toISOString() }),
                ends_at: new Date(ends).toISOString(),
              }
            : { rrule: writeWeeklyRule({ days, time }), duration_minutes: Math.round(hours * 60), time_zone: zone }),
        },
      })
    },
    onSuccess: async () => {
      notify.success({ message: t.freezes.created })
      await queries.invalidateQueries({ queryKey: ['freezes', organizationId] })
      onClose()
    },
  })
  const isDayMissing = kind === 'recurring' && days.length === 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isDayMissing) create.mutate()
  }
  return (
    <Dialog size="lg" title={t.freezes.createTitle} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <TextField
            label={t.freezes.reason}
            data-autofocus
            required
            maxLength={1000}
            value={reason}
            onChange={event => setReason(event.currentTarget.value)}
          />
          <SegmentedControl
            aria-label={t.freezes.kind}
            value={kind}
            onChange={value => setKind(value as typeof kind)}
            data={[
              { value: 'once', label: t.freezes.once },
              { value: 'recurring', label: t.freezes.recurring },
            ]}
          />
          {kind === 'once' ? (
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextField
                type="datetime-local"
                label={t.freezes.starts}
                description={t.freezes.startsHint}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                value={starts}
                onChange={event => setStarts(event.currentTarget.value)}
              />
              <TextField
                type="datetime-local"
                label={t.freezes.ends}
                required
                value={ends}
                onChange={event => setEnds(event.currentTarget.value)}
              />
            </SimpleGrid>
          ) : (
            <>
              <Chip.Group multiple value={days} onChange={value => setDays(value as Weekday[])}>
                <Group gap={4} role="group" aria-label={t.freezes.days}>
                  {weekdays.map(day => (
                    <Chip key={day} value={day} size="xs">
                      {weekdayName(day, language, 'short')}
                    </Chip>
                  ))}
                </Group>
              </Chip.Group>
              {isDayMissing && (
                <Text size="sm" c="red" role="alert">
                  {t.freezes.daysNeeded}
                </Text>
              )}
              <SimpleGrid cols={{ base: 1, xs: 2 }}>
                <TextField
                  type="time"
                  label={t.freezes.startsAt}
                  required
                  value={time}
                  onChange={event => setTime(event.currentTarget.value)}
                />
                <NumberField
                  label={t.freezes.duration}
                  required
                  min={1}
                  max={hoursMax}
                  value={hours}
                  onChange={value => setHours(Number(value))}
                />
              </SimpleGrid>
              <NativeSelect
                label={t.freezes.timeZone}
                value={zone}
                onChange={event => setZone(event.currentTarget.value)}
                data={[...new Set([zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
              />
            </>
          )}
          <NativeSelect
            label={t.freezes.scope}
            value={scope}
            onChange={event => setScope(event.currentTarget.value)}
            data={[
              { value: '', label: t.freezes.whole },
              ...sets.map(({ id, name }) => ({ value: `set ${id}`, label: t.freezes.set(name) })),
              ...projects.map(({ id, name }) => ({ value: `project ${id}`, label: t.freezes.project(name) })),
            ]}
          />
          <TextField
            label={t.freezes.tag}
            maxLength={255}
            value={tag}
            onChange={event => setTag(event.currentTarget.value)}
          />
          <MultiSelect label={t.freezes.except} searchable data={roles} value={exceptRoles} onChange={setExceptRoles} />
          <ProblemAlert error={create.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t.common.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
