import { type AnswerOf, routes } from '@halyard/contract'
import { ActionIcon, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useFlagAccessSettings, useRoles } from '../../services/member-queries.ts'
import { canEditByDefault } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { SelectField } from '../../ui/form/select-field.tsx'
import { TrashIcon } from '../../ui/icons.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { EffectiveAccess } from './effective-access.tsx'

type Grant = AnswerOf<typeof routes.roleAccess.get>

/** Who can edit this flag: the roles with access to it, and the result for each member. */
export function AccessTab(props: TabProps) {
  const t = useMessages()
  return (
    <Stack gap="xl">
      <section>
        <Title order={2} mb="xs">
          {t.access.grants}
        </Title>
        <RoleGrants {...props} />
      </section>
      <EffectiveAccess {...props} />
    </Stack>
  )
}

/** The roles that can edit this flag in addition to those that can edit every flag. */
function RoleGrants({ flag, project }: TabProps) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: String(project.id), parent_lookup_feature_flag_id: String(flag.id) }
  const queryKey = ['role-access', params.project_id, params.parent_lookup_feature_flag_id]
  const grants = useQuery({ queryKey, queryFn: ({ signal }) => call(routes.roleAccess.list, { params, signal }) })
  const roles = useRoles(project.organization)
  const access = useFlagAccessSettings(project.organization)
  const [roleId, setRoleId] = useState('')
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey }),
      queries.invalidateQueries({ queryKey: ['effective-access', params.project_id] }),
    ])
  const grant = useMutation({
    mutationFn: () => call(routes.roleAccess.create, { params, body: { role_id: roleId } }),
    onSuccess: ({ role }) => {
      notify.success({ message: t.access.granted(role.name) })
      setRoleId('')
      return refresh()
    },
  })
  const revoke = useMutation({
    mutationFn: ({ id }: Grant) => call(routes.roleAccess.remove, { params: { ...params, id: String(id) } }),
    onSuccess: (_, { role }) => {
      notify.success({ message: t.access.revoked(role.name) })
      return refresh()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    grant.mutate()
  }
  return (
    <Loaded query={{ ...grants, data: access && grants.data }}>
      {({ results }) => {
        const free = (roles.data ?? []).filter(role => results.every(({ role_id }) => role_id !== role.id))
        return (
          <Stack>
            <Text size="sm" c="dimmed">
              {canEditByDefault(access) ? t.access.intro : t.access.introViewers}
            </Text>
            <ProblemAlert error={grant.error ?? revoke.error} />
            {results.length === 0 ? (
              <Text size="sm">{t.access.none}</Text>
            ) : (
              <DataTable
                label={t.access.grants}
                head={[t.access.role, t.access.members, t.access.since, '']}
                rows={results.map(grant => ({
                  key: grant.id,
                  cells: [
                    grant.role.name,
                    grant.role.members,
                    day(grant.added_at),
                    flag.can_edit && (
                      <ActionIcon
                        key="revoke"
                        variant="subtle"
                        color="gray"
                        aria-label={t.access.revoke(grant.role.name)}
                        onClick={() => revoke.mutate(grant)}
                      >
                        <TrashIcon size={16} />
                      </ActionIcon>
                    ),
                  ],
                }))}
              />
            )}
            {roles.data?.length === 0 && (
              <Text size="sm">
                {t.access.noRoles}{' '}
                <Anchor
                  component={Link}
                  to={`/organization/${project.organization}/roles`}
                  size="sm"
                  underline="always"
                >
                  {t.access.toRoles}
                </Anchor>
              </Text>
            )}
            {flag.can_edit && roles.data?.length !== 0 && (
              <Group align="flex-end" component="form" onSubmit={submit}>
                <SelectField
                  label={t.access.grantLabel}
                  required
                  value={roleId}
                  onChange={event => setRoleId(event.currentTarget.value)}
                  data={[
                    { value: '', label: t.access.selectRole },
                    ...free.map(({ id, name }) => ({ value: id, label: name })),
                  ]}
                />
                <Button type="submit" variant="default" loading={grant.isPending}>
                  {t.access.grant}
                </Button>
              </Group>
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}
