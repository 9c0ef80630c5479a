import { routes } from '@halyard/contract'
import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import {
  type AccessDraft,
  AccessTable,
  blankAccess,
  draftScopes,
  ExpirySelect,
  expiryAfter,
  PresetSelect,
  ProjectChoice,
} from '../keys/access-fields.tsx'
import { useCall } from '../services/services.ts'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { unlessEdited } from '../ui/form/unless-edited.ts'
import { FormRow } from '../ui/layout/form-row.tsx'

interface Draft extends AccessDraft {
  readonly label: string
}

const blank: Draft = { label: '', ...blankAccess }

export function NewKey({ onCreated }: { onCreated: () => void }) {
  const t = useMessages()
  const call = useCall()
  const [draft, setDraft] = useState(blank)
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const [days, setDays] = useState('90')
  const [hasTried, setHasTried] = useState(false)
  const create = useMutation({
    mutationFn: (submitted: Draft) =>
      call(routes.apiKeys.create, {
        body: {
          label: submitted.label,
          scopes: draftScopes(submitted),
          scoped_teams: submitted.projectIds.map(Number),
          expires_at: expiryAfter(days),
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
    if (draftScopes(draft).length > 0) create.mutate(draft)
  }
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
            value={draft.label}
            error={atField}
            onChange={event => set({ label: event.currentTarget.value })}
          />
          <PresetSelect draft={draft} hasTried={hasTried} onChange={set} />
          <ExpirySelect days={days} onChange={setDays} />
          <Button type="submit" loading={create.isPending}>
            {t.account.create}
          </Button>
        </FormRow>
        {/* Shown once, so it must be in view: below the choices it would be off screen. */}
        {create.data?.value && <OneTimeSecret value={create.data.value} label={create.data.label} />}
        {draft.preset === 'full' ? (
          <Text size="sm">{t.account.fullHint}</Text>
        ) : (
          <AccessTable access={draft.access} onChange={set} />
        )}
        <ProjectChoice
          projectIds={draft.projectIds}
          hint={t.account.projectsHint}
          onChange={projectIds => set({ projectIds })}
        />
      </Stack>
    </form>
  )
}
