import { routes } from '@halyard/contract'
import { adminLevel, memberLevel, viewOnlyLevel } from '@halyard/contract/levels'
import { NativeSelect, SimpleGrid, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import {
  type AccessDraft,
  AccessTable,
  blankAccess,
  draftScopes,
  ExpirySelect,
  expiryAfter,
  PresetSelect,
  ProjectChoice,
} from '../../keys/access-fields.tsx'
import { useCall } from '../../services/services.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { TextField } from '../../ui/form/text-field.tsx'
import { useLevelName } from '../level-name.ts'

interface Draft extends AccessDraft {
  readonly label: string
  readonly level: string
  readonly days: string
}

const blank: Draft = { label: '', level: String(memberLevel), days: '90', ...blankAccess }
/** A key never owns the organization. */
const keyLevels = [viewOnlyLevel, memberLevel, adminLevel]

interface Props {
  organizationId: string
  onCreated: (key: { label: string; value: string }) => void
  onClose: () => void
}

export function ServiceKeyDialog({ organizationId, onCreated, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const levelName = useLevelName()
  const [draft, setDraft] = useState(blank)
  const [hasTried, setHasTried] = useState(false)
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const create = useMutation({
    mutationFn: () =>
      call(routes.serviceKeys.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: {
          label: draft.label,
          level: Number(draft.level),
          scopes: draftScopes(draft),
          scoped_teams: draft.projectIds.map(Number),
          expires_at: expiryAfter(draft.days),
        },
      }),
    onSuccess: async ({ label, value }) => {
      await queries.invalidateQueries({ queryKey: ['service-keys', organizationId] })
      onCreated({ label, value })
      onClose()
    },
  })
  const submit = () => {
    setHasTried(true)
    if (draftScopes(draft).length > 0) create.mutate()
  }
  const atLabel = fieldProblem(t, create.error, 'label')
  return (
    <FormDialog
      size="lg"
      title={t.serviceKeys.newTitle}
      label={t.account.create}
      error={atLabel ? undefined : create.error}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextField
          label={t.account.label}
          data-autofocus
          required
          maxLength={40}
          value={draft.label}
          error={atLabel}
          onChange={event => set({ label: event.currentTarget.value })}
        />
        <NativeSelect
          label={t.members.level}
          value={draft.level}
          onChange={event => set({ level: event.currentTarget.value })}
          data={keyLevels.map(level => ({ value: String(level), label: levelName(level) }))}
        />
        <PresetSelect draft={draft} hasTried={hasTried} onChange={set} />
        <ExpirySelect days={draft.days} onChange={days => set({ days })} />
      </SimpleGrid>
      {draft.preset === 'full' ? (
        <Text size="sm">{t.serviceKeys.fullHint}</Text>
      ) : (
        <AccessTable access={draft.access} onChange={set} />
      )}
      <ProjectChoice
        organizationId={organizationId}
        projectIds={draft.projectIds}
        hint={t.keys.projectsHint}
        onChange={projectIds => set({ projectIds })}
      />
    </FormDialog>
  )
}
