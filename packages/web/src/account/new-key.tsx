import { routes } from '@halyard/contract'
import { Button, Checkbox, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useProjects } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { unlessEdited } from '../ui/form/unless-edited.ts'
import { FormRow } from '../ui/layout/form-row.tsx'
import { type AccessLevel, accessLevels, type KeyPreset, keyPresets, noAccess, scopesOf } from './key-scopes.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

interface Draft {
  readonly label: string
  readonly preset: KeyPreset | ''
  readonly access: typeof noAccess
  readonly projectIds: string[]
}

const blank: Draft = { label: '', preset: '', access: noAccess, projectIds: [] }

export function NewKey({ onCreated }: { onCreated: () => void }) {
  const t = useMessages()
  const call = useCall()
  const [draft, setDraft] = useState(blank)
  const { label, preset, access, projectIds } = draft
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const [days, setDays] = useState('90')
  const [hasTried, setHasTried] = useState(false)
  const scopes = scopesOf(access, preset === 'full')
  const create = useMutation({
    mutationFn: (submitted: Draft) =>
      call(routes.apiKeys.create, {
        body: {
          label: submitted.label,
          scopes: scopesOf(submitted.access, submitted.preset === 'full'),
          scoped_teams: submitted.projectIds.map(Number),
          expires_at: days === '' ? null : new Date(Date.now() + Number(days) * dayMilliseconds).toISOString(),
        },
      }),
    onSuccess: (_, submitted) => {
      setDraft(unlessEdited(submitted, blank))
      setHasTried(false)
      onCreated()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setHasTried(true)
    if (scopes.length > 0) create.mutate(draft)
  }
  const choose = (next: KeyPreset | '') => set({ preset: next, ...(next !== '' && { access: keyPresets[next] }) })
  const setLevel = (object: string, level: AccessLevel) =>
    setDraft(old => ({ ...old, preset: '', access: { ...old.access, [object]: level } }))
  const atField = fieldProblem(t, create.error, 'label')
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {!atField && <ProblemAlert error={create.error} />}
        <FormRow>
          <TextField
            label={t.account.label}
            required
            maxLength={40}
            value={label}
            error={atField}
            onChange={event => set({ label: event.currentTarget.value })}
          />
          <NativeSelect
            label={t.account.preset}
            value={preset}
            error={hasTried && scopes.length === 0 ? t.account.scopesMissing : undefined}
            onChange={event => choose(event.currentTarget.value as KeyPreset | '')}
            data={[
              { value: '', label: t.account.presets.custom },
              ...(Object.keys(keyPresets) as KeyPreset[]).map(value => ({ value, label: t.account.presets[value] })),
            ]}
          />
          <NativeSelect
            label={t.account.expires}
            value={days}
            onChange={event => setDays(event.currentTarget.value)}
            data={[
              { value: '7', label: t.account.inDays(7) },
              { value: '90', label: t.account.inDays(90) },
              { value: '365', label: t.account.inDays(365) },
              { value: '', label: t.common.never },
            ]}
          />
          <Button type="submit" loading={create.isPending}>
            {t.account.create}
          </Button>
        </FormRow>
        {/* Shown once, so it must be in view: below the choices it would be off screen. */}
        {create.data?.value && <OneTimeSecret value={create.data.value} label={create.data.label} />}
        {preset === 'full' ? (
          <Text size="sm">{t.account.fullHint}</Text>
        ) : (
          <AccessTable access={access} onChange={setLevel} />
        )}
        <ProjectChoice projectIds={projectIds} onChange={ids => set({ projectIds: ids })} />
      </Stack>
    </form>
  )
}

interface AccessProps {
  access: typeof noAccess
  onChange: (object: string, level: AccessLevel) => void
}

/** What the key can do with each kind of object. */
function AccessTable({ access, onChange }: AccessProps) {
  const t = useMessages()
  const names: Record<string, string> = t.account.resources
  return (
    <DataTable
      label={t.account.scopes}
      head={[t.account.resource, t.account.access]}
      rows={Object.entries(access).map(([object, level]) => ({
        key: object,
        cells: [
          names[object] ?? object,
          <SegmentedControl
            key="level"
            size="xs"
            aria-label={t.account.accessTo(names[object] ?? object)}
            value={level}
            onChange={next => onChange(object, next as AccessLevel)}
            data={accessLevels.map(value => ({ value, label: t.account.levels[value] }))}
          />,
        ],
      }))}
    />
  )
}

interface ChoiceProps {
  projectIds: string[]
  onChange: (projectIds: string[]) => void
}

/** Restricts the key to some projects, where there are several. */
function ProjectChoice({ projectIds, onChange }: ChoiceProps) {
  const t = useMessages()
  const projects = useProjects().data ?? []
  if (projects.length <= 1) return null
  return (
    <Checkbox.Group
      label={t.account.projects}
      description={t.account.projectsHint}
      value={projectIds}
      onChange={onChange}
    >
      <Group mt="xs">
        {projects.map(({ id, name }) => (
          <Checkbox key={id} value={String(id)} label={name} />
        ))}
      </Group>
    </Checkbox.Group>
  )
}
