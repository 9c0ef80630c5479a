import { groupMappingsMax, type IdentityProvider, routes } from '@halyard/contract'
import { levels, memberLevel, ownerLevel } from '@halyard/contract/levels'
import { ActionIcon, Button, Group, NativeSelect, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useRoles } from '../../services/member-queries.ts'
import { useCall } from '../../services/services.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { NumberField } from '../../ui/form/number-field.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { TrashIcon } from '../../ui/icons.tsx'
import { useLevelName } from '../level-name.ts'
import { providersKey } from './sign-in-queries.ts'

interface Mapping {
  readonly id: number
  readonly group: string
  /** Empty: unchanged. */
  readonly level: string
  readonly role: string
}

interface Draft {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Empty keeps the stored one. */
  readonly secret: string
  readonly scopes: string
  readonly groupClaim: string
  readonly mappings: readonly Mapping[]
  readonly defaultLevel: string
  readonly hours: number
  readonly isEnabled: boolean
}

const draftOf = (provider: IdentityProvider | undefined): Draft => ({
  name: provider?.name ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.client_id ?? '',
  secret: '',
  scopes: (provider?.scopes ?? ['openid', 'email', 'profile']).join(' '),
  groupClaim: provider?.group_claim ?? 'groups',
  mappings: (provider?.group_mappings ?? []).map(({ group, level, role_id }, index) => ({
    id: index + 1,
    group,
    level: String(level ?? ''),
    role: role_id ?? '',
  })),
  defaultLevel: String(provider?.default_level ?? memberLevel),
  hours: provider?.session_hours ?? 12,
  isEnabled: provider?.enabled ?? true,
})

const toWire = (draft: Draft) => ({
  name: draft.name,
  issuer: draft.issuer,
  client_id: draft.clientId,
  ...(draft.secret !== '' && { client_secret: draft.secret }),
  scopes: draft.scopes.split(/\s+/).filter(Boolean),
  group_claim: draft.groupClaim,
  group_mappings: draft.mappings.map(({ group, level, role }) => ({
    group,
    level: level === '' ? null : Number(level),
    role_id: role === '' ? null : role,
  })),
  default_level: Number(draft.defaultLevel),
  session_hours: draft.hours,
  enabled: draft.isEnabled,
})

interface Props {
  organizationId: string
  /** Undefined for a new one. */
  provider: IdentityProvider | undefined
  onClose: () => void
}

export function ProviderDialog({ organizationId, provider, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [draft, setDraft] = useState(() => draftOf(provider))
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => {
      const params = { parent_lookup_organization_id: organizationId }
      const body = toWire(draft)
      return provider
        ? call(routes.identityProviders.update, { params: { ...params, provider_id: provider.id }, body })
        : call(routes.identityProviders.create, { params, body })
    },
    onSuccess: async ({ name }) => {
      notify.success({ message: t.singleSignOn.saved(name) })
      await queries.invalidateQueries({ queryKey: providersKey(organizationId) })
      onClose()
    },
  })
  return (
    <FormDialog
      size="lg"
      title={provider ? t.singleSignOn.editTitle : t.singleSignOn.addProvider}
      label={t.common.save}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <ClientFields draft={draft} hasSecret={provider?.has_client_secret ?? false} onChange={set} />
      <Mappings organizationId={organizationId} draft={draft} onChange={set} />
      <Switch
        label={t.singleSignOn.enabled}
        checked={draft.isEnabled}
        onChange={event => set({ isEnabled: event.currentTarget.checked })}
      />
    </FormDialog>
  )
}

interface FieldsProps {
  draft: Draft
  onChange: (change: Partial<Draft>) => void
}

function ClientFields({ draft, hasSecret, onChange }: FieldsProps & { hasSecret: boolean }) {
  const t = useMessages()
  const text = (name: 'name' | 'issuer' | 'clientId' | 'scopes' | 'groupClaim', maxLength: number) => ({
    maxLength,
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) => onChange({ [name]: event.currentTarget.value }),
  })
  return (
    <>
      <TextField
        label={t.singleSignOn.name}
        description={t.singleSignOn.nameHint}
        data-autofocus
        required
        {...text('name', 100)}
      />
      <TextField
        label={t.singleSignOn.issuer}
        description={t.singleSignOn.issuerHint}
        required
        {...text('issuer', 500)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextField
          label={t.singleSignOn.clientId}
          description={t.singleSignOn.clientIdHint}
          required
          {...text('clientId', 300)}
        />
        <PasswordField
          label={t.singleSignOn.secret}
          description={hasSecret ? t.singleSignOn.secretKept : t.singleSignOn.secretHint}
          visibilityToggleButtonProps={{ 'aria-label': t.singleSignOn.showSecret, tabIndex: 0 }}
          autoComplete="off"
          maxLength={2000}
          value={draft.secret}
          onChange={event => onChange({ secret: event.currentTarget.value })}
        />
        <TextField
          label={t.singleSignOn.scopes}
          description={t.singleSignOn.scopesHint}
          required
          {...text('scopes', 2000)}
        />
        <NumberField
          label={t.singleSignOn.hours}
          description={t.singleSignOn.hoursHint}
          min={1}
          max={12}
          allowDecimal={false}
          required
          value={draft.hours}
          onChange={value => onChange({ hours: Number(value) })}
        />
      </SimpleGrid>
      <TextField
        label={t.singleSignOn.groupClaim}
        description={t.singleSignOn.groupClaimHint}
        required
        {...text('groupClaim', 200)}
      />
    </>
  )
}

/** The owner passes ownership on; no provider grants it. */
const grantedLevels = levels.filter(level => level < ownerLevel)

function Mappings({ organizationId, draft, onChange }: FieldsProps & { organizationId: string }) {
  const t = useMessages()
  const levelName = useLevelName()
  const roles = useRoles(organizationId).data ?? []
  const { mappings } = draft
  const levelOptions = grantedLevels.map(level => ({ value: String(level), label: levelName(level) }))
  const roleOptions = roles.map(({ id, name }) => ({ value: id, label: name }))
  const change = (id: number, fields: Partial<Mapping>) =>
    onChange({ mappings: mappings.map(each => (each.id === id ? { ...each, ...fields } : each)) })
  const add = () => {
    const id = Math.max(0, ...mappings.map(each => each.id)) + 1
    onChange({ mappings: [...mappings, { id, group: '', level: String(memberLevel), role: '' }] })
  }
  return (
    <Stack gap="xs" role="group" aria-label={t.singleSignOn.groups}>
      <Text size="sm" fw={600}>
        {t.singleSignOn.groups}
      </Text>
      <Text size="xs" c="dimmed">
        {t.singleSignOn.groupsHint}
      </Text>
      {mappings.map((mapping, index) => (
        <Group key={mapping.id} role="group" aria-label={t.singleSignOn.mapping(index + 1)} align="flex-end" gap="xs">
          <TextField
            label={t.singleSignOn.group}
            required
            maxLength={200}
            flex="2 1 9rem"
            value={mapping.group}
            onChange={event => change(mapping.id, { group: event.currentTarget.value })}
          />
          <NativeSelect
            label={t.members.level}
            flex="1 1 8rem"
            value={mapping.level}
            onChange={event => change(mapping.id, { level: event.currentTarget.value })}
            data={[{ value: '', label: t.singleSignOn.unchanged }, ...levelOptions]}
          />
          <NativeSelect
            label={t.singleSignOn.role}
            flex="1 1 8rem"
            value={mapping.role}
            onChange={event => change(mapping.id, { role: event.currentTarget.value })}
            data={[{ value: '', label: t.common.none }, ...roleOptions]}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t.singleSignOn.removeMapping(index + 1)}
            onClick={() => onChange({ mappings: mappings.filter(({ id }) => id !== mapping.id) })}
          >
            <TrashIcon size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button variant="default" size="xs" disabled={mappings.length >= groupMappingsMax} onClick={add}>
          {t.singleSignOn.addMapping}
        </Button>
      </Group>
      <NativeSelect
        label={t.singleSignOn.defaultLevel}
        value={draft.defaultLevel}
        onChange={event => onChange({ defaultLevel: event.currentTarget.value })}
        data={levelOptions}
      />
    </Stack>
  )
}
