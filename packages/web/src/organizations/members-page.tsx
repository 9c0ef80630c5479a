import { type FlagAccess, type NewInvite, routes } from '@halyard/contract'
import { levels, ownerLevel } from '@halyard/contract/levels'
import { Alert, Badge, Button, Code, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useMembers } from '../services/member-queries.ts'
import { assignableLevels, canChangeLevel, canRemoveMember, isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useMe, useMembershipLevel, useOrganizations } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { CopyTextButton } from '../ui/data/copy-button.tsx'
import { DataTable } from '../ui/data/data-table.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { combineQueries, Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { unlessEdited } from '../ui/form/unless-edited.ts'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'
import { accessSource } from './access-source.ts'
import { useLevelName } from './level-name.ts'

export function MembersPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/members' })
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const me = useMe().data
  const organizations = useOrganizations()
  const viewer = { level: useMembershipLevel(organizationId), uuid: me?.uuid }
  const params = { parent_lookup_organization_id: organizationId }
  const members = useMembers(organizationId)
  const access = useFlagAccess(organizationId)
  const refresh = () =>
    Promise.all(
      ['members', 'effective-access'].map(kind => queries.invalidateQueries({ queryKey: [kind, organizationId] })),
    )
  const levelName = useLevelName()
  const setLevel = useMutation({
    mutationFn: ({ uuid, to }: { uuid: string; to: number }) =>
      call(routes.organizations.updateMember, { params: { ...params, user_uuid: uuid }, body: { level: to } }),
    onSuccess: ({ user, level: now }) =>
      notify.success({ message: t.members.levelSet(user.first_name || user.email, levelName(now)) }),
    onSettled: refresh,
  })
  const remove = async (uuid: string) => {
    await call(routes.organizations.removeMember, { params: { ...params, user_uuid: uuid } })
    await refresh()
  }
  const resetFactor = async (uuid: string) => {
    await call(routes.secondFactors.resetMember, { params: { ...params, user_uuid: uuid } })
    await refresh()
  }
  return (
    <Page title={t.shell.members} intro={t.members.intro}>
      <ProblemAlert error={setLevel.error} />
      <Loaded query={combineQueries({ members, access, organizations })}>
        {({ members: all, access: accessOf, organizations: own }) => (
          <>
            <DataTable
              label={t.shell.members}
              head={[
                t.members.name,
                t.signIn.email,
                t.members.level,
                t.shell.flags,
                t.secondFactor.title,
                t.members.since,
                '',
              ]}
              rows={all.map(member => {
                const { id, user, level, joined_at } = member
                return {
                  key: id,
                  cells: [
                    user.first_name,
                    <Group key="email" gap="xs">
                      {user.email}
                      {member.is_provisioned && (
                        <Badge variant="light" size="sm">
                          {t.provisioning.badge}
                        </Badge>
                      )}
                    </Group>,
                    canChangeLevel(viewer, member) ? (
                      <NativeSelect
                        key="level"
                        size="xs"
                        miw={120}
                        aria-label={t.members.levelOf(user.first_name)}
                        value={String(level)}
                        onChange={event => setLevel.mutate({ uuid: user.uuid, to: Number(event.currentTarget.value) })}
                        data={assignableLevels(viewer).map(each => ({ value: String(each), label: levelName(each) }))}
                      />
                    ) : (
                      <Badge key="level" variant="light" color="gray">
                        {levelName(level)}
                      </Badge>
                    ),
                    <MemberFlagAccess key="access" access={accessOf.get(user.uuid)} />,
                    member.is_2fa_enabled && isAdmin(viewer.level) && user.uuid !== me?.uuid ? (
                      <ConfirmButton
                        key="factor"
                        of={user.first_name || user.email}
                        label={t.secondFactor.reset}
                        question={t.secondFactor.resetQuestion(user.first_name || user.email)}
                        done={t.secondFactor.resetDone(user.first_name || user.email)}
                        onConfirm={() => resetFactor(user.uuid)}
                      />
                    ) : member.is_2fa_enabled ? (
                      t.secondFactor.on
                    ) : (
                      t.secondFactor.off
                    ),
                    day(joined_at),
                    canRemoveMember(viewer, member, all) ? (
                      <ConfirmButton
                        key="remove"
                        of={user.first_name || user.email}
                        label={user.uuid === me?.uuid ? t.members.leave : t.members.remove}
                        question={
                          user.uuid === me?.uuid
                            ? t.members.leaveQuestion(own.find(({ id }) => id === organizationId)?.name ?? '')
                            : t.members.removeQuestion(user.first_name || user.email)
                        }
                        detail={user.uuid === me?.uuid && t.members.leaveDetail}
                        done={t.members.removed(user.first_name || user.email)}
                        onConfirm={() => remove(user.uuid)}
                      />
                    ) : (
                      ''
                    ),
                  ],
                }
              })}
            />
            {isAdmin(viewer.level) && <Invitations organizationId={organizationId} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Owners are not invited: an owner passes ownership on. */
const invitedLevels = levels.filter(level => level < ownerLevel)
const listedMax = '1000'

/** What each member can do with flags, by user. The server decides it by the rules that requests pass. */
function useFlagAccess(organizationId: string) {
  const call = useCall()
  return useQuery({
    queryKey: ['effective-access', organizationId],
    queryFn: async ({ signal }) => {
      const params = { parent_lookup_organization_id: organizationId }
      const { results } = await call(routes.roleAccess.listFlagAccess, { params, query: { limit: listedMax }, signal })
      return new Map(results.map(access => [access.user.uuid, access]))
    },
  })
}

/** Without access for a member who has joined since it was loaded. */
function MemberFlagAccess({ access }: { access: FlagAccess | undefined }) {
  const t = useMessages()
  if (!access) return null
  const { editable_flags: keys, editable_flag_count: count } = access
  return (
    <div>
      <Badge variant="light" color={access.access_level === 'editor' ? 'green' : 'gray'}>
        {t.access.levels[access.access_level]}
      </Badge>
      <Text size="xs" c="dimmed">
        {accessSource(t, access)}
        {count > 0 && ` · ${t.roles.extraFlags(keys.join(', ') + (count > keys.length ? ', …' : ''))}`}
      </Text>
    </div>
  )
}

function Invitations({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { parent_lookup_organization_id: organizationId }
  const queryKey = ['invites', organizationId]
  const invites = useApiQuery(queryKey, routes.organizations.listInvites, { params })
  const levelName = useLevelName()
  const [email, setEmail] = useState('')
  const [level, setLevel] = useState('1')
  const invite = useMutation({
    mutationFn: (submitted: { email: string; level: string }) =>
      call(routes.organizations.createInvite, {
        params,
        body: { target_email: submitted.email, level: Number(submitted.level) },
      }),
    onSuccess: (_, submitted) => {
      setEmail(unlessEdited(submitted.email, ''))
      return queries.invalidateQueries({ queryKey })
    },
  })
  const withdraw = async (id: string) => {
    await call(routes.organizations.removeInvite, { params: { ...params, invite_id: id } })
    await queries.invalidateQueries({ queryKey })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ email, level })
  }
  const atField = fieldProblem(t, invite.error, 'target_email')
  return (
    <Stack mt="xl">
      <Title order={2}>{t.members.invite}</Title>
      {!atField && <ProblemAlert error={invite.error} />}
      <form onSubmit={submit}>
        <FormRow>
          <TextField
            label={t.signIn.email}
            type="email"
            required
            value={email}
            error={atField}
            onChange={event => setEmail(event.currentTarget.value)}
            flex="1 1 220px"
            maw={360}
          />
          <NativeSelect
            label={t.members.level}
            value={level}
            onChange={event => setLevel(event.currentTarget.value)}
            data={invitedLevels.map(each => ({ value: String(each), label: levelName(each) }))}
            description={level === '0' ? t.members.viewOnlyText : level === '-1' ? t.members.auditorText : undefined}
          />
          <Button type="submit" loading={invite.isPending}>
            {t.members.invite}
          </Button>
        </FormRow>
      </form>
      {invite.data && <InviteLink invite={invite.data} />}
      {(invites.data?.results.length ?? 0) > 0 && (
        <>
          <Title order={3}>{t.members.open}</Title>
          <DataTable
            label={t.members.open}
            head={[t.signIn.email, t.members.level, t.members.until, '']}
            rows={(invites.data?.results ?? []).map(each => ({
              key: each.id,
              cells: [
                each.target_email,
                levelName(each.level),
                day(each.expires_at),
                <ConfirmButton
                  key="withdraw"
                  label={t.members.withdraw}
                  of={each.target_email}
                  question={t.members.withdrawQuestion(each.target_email)}
                  done={t.members.withdrawn(each.target_email)}
                  onConfirm={() => withdraw(each.id)}
                />,
              ],
            }))}
          />
        </>
      )}
    </Stack>
  )
}

function InviteLink({ invite }: { invite: NewInvite }) {
  const t = useMessages()
  if (invite.signup_path === null) {
    return (
      <Alert color="green" role="alert">
        {t.members.emailed(invite.target_email)}
      </Alert>
    )
  }
  const address = window.location.origin + invite.signup_path
  return (
    <Alert color="green" role="alert">
      <Text size="sm" mb="xs">
        {t.members.sendLink(invite.target_email)}
      </Text>
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{address}</Code>
        <CopyTextButton value={address} label={t.members.copyLink} of={invite.target_email} />
      </Group>
    </Alert>
  )
}
