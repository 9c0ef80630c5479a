import { type Member, routes, type ScimToken } from '@halyard/contract'
import { ownerLevel } from '@halyard/contract/levels'
import { Button, Code, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useMembers } from '../../services/member-queries.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { CopyTextButton } from '../../ui/data/copy-button.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { OneTimeSecret } from '../../ui/data/one-time-secret.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'
import { UsersIcon } from '../../ui/icons.tsx'
import { FormRow } from '../../ui/layout/form-row.tsx'
import { Page } from '../../ui/layout/page.tsx'

const tokensKey = (organizationId: string) => ['scim-tokens', organizationId]

/** SCIM: what to enter at the identity provider, and the people that it has provisioned. */
export function ProvisioningPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/provisioning' })
  const isOwner = useMembershipLevel(organizationId) === ownerLevel
  const members = useMembers(organizationId)
  const tokens = useApiQuery(tokensKey(organizationId), routes.scimTokens.list, {
    params: { parent_lookup_organization_id: organizationId },
  })
  const baseUrl = `${window.location.origin}/scim/v2/${organizationId}`
  return (
    <Page title={t.provisioning.title} intro={t.provisioning.intro}>
      <Stack gap="xl">
        <Stack gap="xs">
          <Title order={2}>{t.provisioning.baseUrl}</Title>
          <Text size="sm" c="dimmed">
            {t.provisioning.baseUrlHint}
          </Text>
          <Group gap="xs">
            <Code style={{ overflowWrap: 'anywhere' }}>{baseUrl}</Code>
            <CopyTextButton value={baseUrl} label={t.provisioning.copyUrl} />
          </Group>
        </Stack>
        <Stack>
          <Title order={2}>{t.provisioning.tokens}</Title>
          {isOwner ? <NewToken organizationId={organizationId} /> : <Text size="sm">{t.provisioning.ownerOnly}</Text>}
          <Loaded query={combineQueries({ tokens, members })}>
            {({ tokens: listed, members: all }) => (
              <>
                <Tokens organizationId={organizationId} tokens={listed} canRevoke={isOwner} />
                <Title order={2} mt="xl">
                  {t.provisioning.people}
                </Title>
                <People members={all.filter(member => member.is_provisioned)} />
              </>
            )}
          </Loaded>
        </Stack>
      </Stack>
    </Page>
  )
}

const dayMilliseconds = 24 * 60 * 60 * 1000

function NewToken({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const [label, setLabel] = useState('')
  const [days, setDays] = useState('')
  const create = useMutation({
    mutationFn: (submitted: string) =>
      call(routes.scimTokens.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: {
          label: submitted,
          expires_at: days === '' ? null : new Date(Date.now() + Number(days) * dayMilliseconds).toISOString(),
        },
      }),
    onSuccess: (_, submitted) => {
      setLabel(unlessEdited(submitted, ''))
      return queries.invalidateQueries({ queryKey: tokensKey(organizationId) })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(label)
  }
  const atField = fieldProblem(t, create.error, 'label')
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {!atField && <ProblemAlert error={create.error} />}
        <FormRow>
          <TextField
            label={t.provisioning.label}
            required
            maxLength={40}
            value={label}
            error={atField}
            onChange={event => setLabel(event.currentTarget.value)}
          />
          <NativeSelect
            label={t.provisioning.expires}
            value={days}
            onChange={event => setDays(event.currentTarget.value)}
            data={[
              { value: '', label: t.common.never },
              { value: '90', label: t.account.inDays(90) },
              { value: '365', label: t.account.inDays(365) },
            ]}
          />
          <Button type="submit" loading={create.isPending}>
            {t.provisioning.create}
          </Button>
        </FormRow>
        {create.data && <OneTimeSecret value={create.data.value} label={create.data.label} />}
      </Stack>
    </form>
  )
}

interface TokensProps {
  organizationId: string
  tokens: readonly ScimToken[]
  canRevoke: boolean
}

function Tokens({ organizationId, tokens, canRevoke }: TokensProps) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  if (tokens.length === 0) {
    return <EmptyState Icon={UsersIcon} title={t.provisioning.noTokens} text={t.provisioning.noTokensText} />
  }
  const revoke = async (id: string) => {
    const params = { parent_lookup_organization_id: organizationId, token_id: id }
    await call(routes.scimTokens.remove, { params })
    await queries.invalidateQueries({ queryKey: tokensKey(organizationId) })
  }
  const { label, token, createdBy, lastUsed, expires } = t.provisioning
  return (
    <DataTable
      label={t.provisioning.tokens}
      head={[label, token, createdBy, lastUsed, expires, '']}
      rows={tokens.map(each => ({
        key: each.id,
        cells: [
          each.label,
          <Code key="mask">{each.mask_value}</Code>,
          each.created_by.first_name || each.created_by.email,
          each.last_used_at === null ? t.common.never : <RelativeTime key="used" instant={each.last_used_at} />,
          each.expires_at === null ? t.common.never : day(each.expires_at),
          canRevoke ? (
            <ConfirmButton
              key="revoke"
              of={each.label}
              label={t.provisioning.revoke}
              question={t.provisioning.revokeQuestion(each.label)}
              detail={t.provisioning.revokeDetail}
              done={t.provisioning.revoked(each.label)}
              onConfirm={() => revoke(each.id)}
            />
          ) : (
            ''
          ),
        ],
      }))}
    />
  )
}

function People({ members }: { members: readonly Member[] }) {
  const t = useMessages()
  const { day } = useFormats()
  if (members.length === 0) {
    return <EmptyState Icon={UsersIcon} title={t.provisioning.noPeople} text={t.provisioning.noPeopleText} />
  }
  return (
    <DataTable
      label={t.provisioning.people}
      head={[t.members.name, t.signIn.email, t.members.since]}
      rows={members.map(({ id, user, joined_at }) => ({
        key: id,
        cells: [user.first_name, user.email, day(joined_at)],
      }))}
    />
  )
}
