import { claimRulesMax, exchangedKeySecondsMax, routes, type TrustRelationship } from '@halyard/contract'
import { ActionIcon, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import {
  type AccessDraft,
  AccessTable,
  blankAccess,
  draftScopes,
  PresetSelect,
  ProjectChoice,
} from '../../keys/access-fields.tsx'
import { accessOf } from '../../keys/key-scopes.ts'
import { useCall } from '../../services/services.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { TrashIcon } from '../../ui/icons.tsx'

interface Rule {
  readonly id: number
  readonly claim: string
  readonly match: 'exact' | 'prefix'
  readonly value: string
}

interface Draft extends AccessDraft {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly rules: readonly Rule[]
  readonly minutes: number
}

const draftOf = (relationship: TrustRelationship | undefined): Draft =>
  relationship
    ? {
        name: relationship.name,
        issuer: relationship.issuer,
        audience: relationship.audience,
        rules: relationship.rules.map((rule, index) => ({ ...rule, id: index + 1 })),
        minutes: relationship.ttl_seconds / 60,
        preset: '',
        access: accessOf(relationship.scopes),
        projectIds: relationship.projects.map(String),
      }
    : {
        name: '',
        issuer: '',
        audience: window.location.origin,
        rules: [{ id: 1, claim: 'sub', match: 'exact', value: '' }],
        minutes: 15,
        ...blankAccess,
      }

const toWire = (draft: Draft) => ({
  name: draft.name,
  issuer: draft.issuer,
  audience: draft.audience,
  rules: draft.rules.map(({ claim, match, value }) => ({ claim, match, value })),
  scopes: draftScopes(draft),
  projects: draft.projectIds.map(Number),
  ttl_seconds: Math.round(draft.minutes * 60),
})

interface Props {
  organizationId: string
  /** Undefined for a new one. */
  relationship: TrustRelationship | undefined
  onClose: () => void
}

export function TrustDialog({ organizationId, relationship, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [draft, setDraft] = useState(() => draftOf(relationship))
  const [hasTried, setHasTried] = useState(false)
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => {
      const params = { parent_lookup_organization_id: organizationId }
      const body = toWire(draft)
      return relationship
        ? call(routes.trustRelationships.update, { params: { ...params, relationship_id: relationship.id }, body })
        : call(routes.trustRelationships.create, { params, body })
    },
    onSuccess: async ({ name }) => {
      notify.success({ message: t.trust.saved(name) })
      await queries.invalidateQueries({ queryKey: ['trust-relationships', organizationId] })
      onClose()
    },
  })
  const submit = () => {
    setHasTried(true)
    if (draftScopes(draft).length > 0) save.mutate()
  }
  return (
    <FormDialog
      size="lg"
      title={relationship ? t.trust.editTitle : t.trust.newTitle}
      label={t.common.save}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TokenFields draft={draft} onChange={set} />
      <Rules rules={draft.rules} onChange={rules => set({ rules })} />
      <Group align="flex-end" grow>
        <PresetSelect draft={draft} hasTried={hasTried} presets={['readFlags', 'editFlags']} onChange={set} />
        <NumberField
          label={t.trust.validMinutes}
          min={1}
          max={exchangedKeySecondsMax / 60}
          required
          value={draft.minutes}
          onChange={value => set({ minutes: Number(value) })}
        />
      </Group>
      {/* The keys belong to no person. */}
      <AccessTable access={draft.access} without={['user']} onChange={set} />
      <ProjectChoice
        organizationId={organizationId}
        projectIds={draft.projectIds}
        hint={t.keys.projectsHint}
        onChange={projectIds => set({ projectIds })}
      />
      {relationship && <Text size="sm">{t.trust.revokes}</Text>}
    </FormDialog>
  )
}

function TokenFields({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const t = useMessages()
  return (
    <>
      <TextField
        label={t.trust.name}
        data-autofocus
        required
        maxLength={100}
        value={draft.name}
        onChange={event => onChange({ name: event.currentTarget.value })}
      />
      <TextField
        label={t.trust.issuer}
        description={t.trust.issuerHint}
        required
        maxLength={500}
        value={draft.issuer}
        onChange={event => onChange({ issuer: event.currentTarget.value })}
      />
      <TextField
        label={t.trust.audience}
        description={t.trust.audienceHint}
        required
        maxLength={300}
        value={draft.audience}
        onChange={event => onChange({ audience: event.currentTarget.value })}
      />
    </>
  )
}

function Rules({ rules, onChange }: { rules: readonly Rule[]; onChange: (rules: readonly Rule[]) => void }) {
  const t = useMessages()
  const change = (id: number, fields: Partial<Rule>) =>
    onChange(rules.map(rule => (rule.id === id ? { ...rule, ...fields } : rule)))
  const add = () =>
    onChange([...rules, { id: Math.max(0, ...rules.map(({ id }) => id)) + 1, claim: '', match: 'exact', value: '' }])
  return (
    <Stack gap="xs" role="group" aria-label={t.trust.rules}>
      <Text size="sm" fw={600}>
        {t.trust.rules}
      </Text>
      <Text size="xs" c="dimmed">
        {t.trust.rulesHint}
      </Text>
      {rules.map((rule, index) => (
        <Group key={rule.id} role="group" aria-label={t.trust.rule(index + 1)} align="flex-end" gap="xs">
          <TextField
            label={t.trust.claim}
            required
            maxLength={100}
            flex="1 1 6rem"
            value={rule.claim}
            onChange={event => change(rule.id, { claim: event.currentTarget.value })}
          />
          <NativeSelect
            label={t.trust.match}
            flex="1 1 6rem"
            value={rule.match}
            onChange={event => change(rule.id, { match: event.currentTarget.value as Rule['match'] })}
            data={[
              { value: 'exact', label: t.trust.is },
              { value: 'prefix', label: t.trust.startsWith },
            ]}
          />
          <TextField
            label={t.trust.value}
            required
            maxLength={500}
            flex="3 1 12rem"
            value={rule.value}
            onChange={event => change(rule.id, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            disabled={rules.length === 1}
            aria-label={t.trust.removeRule(index + 1)}
            onClick={() => onChange(rules.filter(({ id }) => id !== rule.id))}
          >
            <TrashIcon size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button variant="default" size="xs" disabled={rules.length >= claimRulesMax} onClick={add}>
          {t.trust.addRule}
        </Button>
      </Group>
    </Stack>
  )
}
