import { type Role, routes } from '@halyard/contract'
import { Accordion, Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useFlagAccessSettings, useMembers, useRoles } from '../services/member-queries.ts'
import { canEditAllFlags, canEditByDefault, editFlagsLevel, isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useMembershipLevel } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { combineQueries, Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { unlessEdited } from '../ui/form/unless-edited.ts'
import { UsersIcon } from '../ui/icons.tsx'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'

export function RolesPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/roles' })
  const access = useFlagAccessSettings(organizationId)
  const canManage = isAdmin(useMembershipLevel(organizationId))
  const roles = useRoles(organizationId)
  return (
    <Page title={t.shell.roles} intro={canEditByDefault(access) ? t.roles.intro : t.roles.introViewers}>
      <Loaded query={{ ...roles, data: access && roles.data }}>
        {all => (
          <>
            {canManage && access?.organizationAccess === undefined && (
              <WithoutRole organizationId={organizationId} level={access?.defaultAccess ?? editFlagsLevel} />
            )}
            {canManage && <NewRole organizationId={organizationId} />}
            {all.length === 0 ? (
              <EmptyState Icon={UsersIcon} title={t.roles.none} text={t.roles.noneText} />
            ) : (
              <Accordion mt="md" order={2}>
                {all.map(role => (
                  <Accordion.Item key={role.id} value={role.id}>
                    <Accordion.Control>
                      <Group gap="sm">
                        <Text fw={600} size="sm">
                          {role.name}
                        </Text>
                        <Badge variant="light" color={canEditAllFlags(role) ? 'green' : 'gray'}>
                          {canEditAllFlags(role) ? t.roles.canEdit : t.roles.canView}
                        </Badge>
                      </Group>
                    </Accordion.Control>
                    <Accordion.Panel>
                      <RoleDetails role={role} organizationId={organizationId} canManage={canManage} />
                    </Accordion.Panel>
                  </Accordion.Item>
                ))}
              </Accordion>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** What members without a role can do. Shown only while no setting for the whole organization counts before it. */
function WithoutRole({ organizationId, level }: { organizationId: string; level: number }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const levels = useLevels()
  const save = useMutation({
    mutationFn: (to: number) =>
      call(routes.organizations.update, {
        params: { parent_lookup_organization_id: organizationId },
        body: { default_access_level: to },
      }),
    onSuccess: ({ default_access_level: now }) => {
      const label = levels.find(({ value }) => value === String(now))?.label ?? String(now)
      notify.success({ message: t.roles.withoutRoleSet(label) })
      return queries.invalidateQueries({ queryKey: ['organizations'] })
    },
    onError: error => notify.fail(error),
  })
  return (
    <NativeSelect
      label={t.roles.withoutRole}
      value={String(save.isPending ? save.variables : level)}
      onChange={event => save.mutate(Number(event.currentTarget.value))}
      data={levels}
      maw={240}
      mb="md"
    />
  )
}

function useLevels() {
  const t = useMessages()
  return [
    { value: '21', label: t.roles.canView },
    { value: String(editFlagsLevel), label: t.roles.canEdit },
  ]
}

function NewRole({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const levels = useLevels()
  const [name, setName] = useState('')
  const [level, setLevel] = useState(String(editFlagsLevel))
  const create = useMutation({
    mutationFn: (submitted: { name: string; level: string }) =>
      call(routes.roles.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: { name: submitted.name, feature_flags_access_level: Number(submitted.level) },
      }),
    onSuccess: (role, submitted) => {
      notify.success({ message: t.roles.created(role.name) })
      setName(unlessEdited(submitted.name, ''))
      return queries.invalidateQueries({ queryKey: ['roles', organizationId] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ name, level })
  }
  const atField = fieldProblem(t, create.error, 'name')
  return (
    <form onSubmit={submit}>
      {!atField && <ProblemAlert error={create.error} />}
      <FormRow>
        <TextField
          label={t.roles.name}
          required
          maxLength={200}
          value={name}
          error={atField}
          onChange={event => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label={t.roles.flags}
          value={level}
          onChange={event => setLevel(event.currentTarget.value)}
          data={levels}
        />
        <Button type="submit" loading={create.isPending}>
          {t.roles.create}
        </Button>
      </FormRow>
    </form>
  )
}

function RoleDetails({ role, organizationId, canManage }: { role: Role; organizationId: string; canManage: boolean }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const levels = useLevels()
  const params = { parent_lookup_organization_id: organizationId, role_id: role.id }
  const queryKey = ['role-members', role.id]
  const memberships = useApiQuery(queryKey, routes.roles.listMemberships, { params })
  const members = useMembers(organizationId)
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey }),
      queries.invalidateQueries({ queryKey: ['roles', organizationId] }),
    ])
  const add = useMutation({
    mutationFn: (uuid: string) => call(routes.roles.createMembership, { params, body: { user_uuid: uuid } }),
    onSuccess: ({ user }) => {
      notify.success({ message: t.roles.memberAdded(user.first_name || user.email, role.name) })
      return refresh()
    },
  })
  const setLevel = useMutation({
    mutationFn: (level: string) =>
      call(routes.roles.update, { params, body: { feature_flags_access_level: Number(level) } }),
    onSuccess: (_, level) => {
      notify.success({
        message: t.roles.changed(role.name, levels.find(({ value }) => value === level)?.label ?? level),
      })
      return refresh()
    },
  })
  const takeOut = async (id: string) => {
    await call(routes.roles.removeMembership, { params: { ...params, membership_id: id } })
    await refresh()
  }
  const remove = async () => {
    await call(routes.roles.remove, { params })
    await refresh()
  }
  return (
    <Loaded query={combineQueries({ memberships, members })}>
      {data => {
        const inside = data.memberships.results
        const outside = data.members.filter(({ user }) => inside.every(each => each.user.uuid !== user.uuid))
        return (
          <Stack>
            <ProblemAlert error={add.error ?? setLevel.error} />
            {canManage && (
              <Group>
                <NativeSelect
                  label={t.roles.flags}
                  value={String(role.feature_flags_access_level)}
                  onChange={event => setLevel.mutate(event.currentTarget.value)}
                  data={levels}
                />
                <NativeSelect
                  label={t.roles.addMember}
                  value=""
                  onChange={event => event.currentTarget.value !== '' && add.mutate(event.currentTarget.value)}
                  data={[
                    { value: '', label: t.roles.selectMember },
                    ...outside.map(({ user }) => ({ value: user.uuid, label: user.first_name })),
                  ]}
                />
              </Group>
            )}
            {inside.length === 0 ? (
              <Text size="sm">{t.roles.noMembers}</Text>
            ) : (
              <DataTable
                label={t.roles.membersOf(role.name)}
                head={[t.members.name, t.signIn.email, '']}
                rows={inside.map(({ id, user }) => ({
                  key: id,
                  cells: [
                    user.first_name,
                    user.email,
                    canManage ? (
                      <ConfirmButton
                        key="out"
                        label={t.roles.removeMember}
                        of={user.first_name || user.email}
                        question={t.roles.removeMemberQuestion(user.first_name, role.name)}
                        done={t.roles.memberRemoved(user.first_name, role.name)}
                        onConfirm={() => takeOut(id)}
                      />
                    ) : (
                      ''
                    ),
                  ],
                }))}
              />
            )}
            {role.associated_flags !== '' && <Text size="sm">{t.roles.extraFlags(role.associated_flags)}</Text>}
            {canManage && (
              <Group justify="flex-end">
                <ConfirmButton
                  label={t.roles.remove}
                  of={role.name}
                  question={t.roles.removeQuestion(role.name)}
                  done={t.roles.removed(role.name)}
                  onConfirm={remove}
                />
              </Group>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}
