import { type IdentityProvider, routes } from '@halyard/contract'
import { ownerLevel } from '@halyard/contract/levels'
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useMembers } from '../../services/member-queries.ts'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useOrganizations } from '../../services/session-queries.ts'
import { CopyTextButton } from '../../ui/data/copy-button.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { KeyIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { RequireFactor } from '../require-factor.tsx'
import { Domains } from './domains.tsx'
import { Requirement } from './requirement.tsx'
import { providersKey, useSignInSettings } from './sign-in-queries.ts'

const ProviderDialog = lazyComponent(async () => (await import('./provider-dialog.tsx')).ProviderDialog)

/** How members sign in. Admins see it, the owner changes it. */
export function OrganizationSignInPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/sign-in' })
  const organizations = useOrganizations()
  const level = useMembershipLevel(organizationId)
  const canManage = level >= ownerLevel
  const settings = useSignInSettings(organizationId, isAdmin(level))
  const members = useMembers(organizationId)
  const scope = { organizationId, canManage }
  const [edited, setEdited] = useState<IdentityProvider | 'new'>()
  return (
    <Page
      title={t.organization.signIn}
      intro={t.singleSignOn.intro}
      wide
      actions={canManage && <Button onClick={() => setEdited('new')}>{t.singleSignOn.addProvider}</Button>}
    >
      {isAdmin(level) ? (
        // All at once: a section that arrives later would move those below it.
        <Loaded query={combineQueries({ ...settings, members })}>
          {data => (
            <Stack gap="xl">
              {!canManage && <Text>{t.singleSignOn.ownerOnly}</Text>}
              <Providers {...scope} providers={data.providers} onEdit={setEdited} />
              <Domains {...scope} domains={data.domains} />
              <Requirement {...scope} isRequired={data.requirement.is_required} members={data.members} />
              <RequireFactor organizationId={organizationId} />
            </Stack>
          )}
        </Loaded>
      ) : (
        <Loaded query={organizations}>{() => <Text>{t.organization.adminsOnly}</Text>}</Loaded>
      )}
      <Suspense fallback={null}>
        {edited && (
          <ProviderDialog
            organizationId={organizationId}
            provider={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </Page>
  )
}

interface ListProps {
  organizationId: string
  providers: readonly IdentityProvider[]
  canManage: boolean
  onEdit: (provider: IdentityProvider) => void
}

function Providers({ organizationId, providers, canManage, onEdit }: ListProps) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { parent_lookup_organization_id: organizationId }
  const remove = async ({ id }: IdentityProvider) => {
    await call(routes.identityProviders.remove, { params: { ...params, provider_id: id } })
    await queries.invalidateQueries({ queryKey: providersKey(organizationId) })
  }
  return (
    <Stack gap="xs">
      <Title order={2}>{t.singleSignOn.providers}</Title>
      {providers.length === 0 ? (
        <EmptyState Icon={KeyIcon} title={t.singleSignOn.none} text={t.singleSignOn.noneText} />
      ) : (
        <DataTable
          label={t.singleSignOn.providers}
          head={[t.singleSignOn.name, t.singleSignOn.register, t.singleSignOn.lastSignIn, '']}
          rows={providers.map(provider => ({
            key: provider.id,
            cells: [
              <Name key="name" provider={provider} />,
              <Addresses key="addresses" provider={provider} />,
              provider.last_sign_in_at ? day(provider.last_sign_in_at) : t.common.never,
              <Group key="actions" gap={4}>
                <TestButton organizationId={organizationId} provider={provider} />
                {canManage && (
                  <>
                    <Button variant="subtle" size="compact-sm" onClick={() => onEdit(provider)}>
                      {t.keys.edit}
                    </Button>
                    <ConfirmButton
                      label={t.common.remove}
                      of={provider.name}
                      question={t.singleSignOn.removeQuestion(provider.name)}
                      detail={t.singleSignOn.removeDetail}
                      done={t.singleSignOn.removed(provider.name)}
                      onConfirm={() => remove(provider)}
                    />
                  </>
                )}
              </Group>,
            ],
          }))}
        />
      )}
    </Stack>
  )
}

function Name({ provider: { name, issuer, enabled, problem } }: { provider: IdentityProvider }) {
  const t = useMessages()
  return (
    <Stack gap={4}>
      <Group gap="xs">
        {name}
        {!enabled && (
          <Badge variant="light" color="gray">
            {t.singleSignOn.disabled}
          </Badge>
        )}
      </Group>
      <Text size="xs" c="dimmed" fw={400} style={{ overflowWrap: 'anywhere' }}>
        {issuer}
      </Text>
      {problem && (
        <Text size="xs" fw={400} c="var(--mantine-color-error)" style={{ overflowWrap: 'anywhere' }}>
          {problem}
        </Text>
      )}
    </Stack>
  )
}

/** What the administrator of the provider enters there. */
function Addresses({ provider }: { provider: IdentityProvider }) {
  const t = useMessages()
  const { name, redirect_uri: redirect, backchannel_logout_uri: logout } = provider
  return (
    <Group gap="xs">
      <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {redirect}
      </Text>
      <CopyTextButton value={redirect} label={t.singleSignOn.copyRedirect} of={name} />
      <CopyTextButton value={logout} label={t.singleSignOn.copyLogout} of={name} />
    </Group>
  )
}

function TestButton({ organizationId, provider }: { organizationId: string; provider: IdentityProvider }) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const test = useMutation({
    mutationFn: () =>
      call(routes.identityProviders.test, {
        params: { parent_lookup_organization_id: organizationId, provider_id: provider.id },
      }),
    onSuccess: ({ is_usable, problems }) =>
      is_usable
        ? notify.success({ message: [t.singleSignOn.usable(provider.name), ...problems].join('. ') })
        : notify.fail(problems.join(' '), provider.name),
    onError: error => notify.fail(error),
  })
  return (
    <Button variant="subtle" size="compact-sm" loading={test.isPending} onClick={() => test.mutate()}>
      {t.singleSignOn.test}
    </Button>
  )
}
