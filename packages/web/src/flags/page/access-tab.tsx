import { type AnswerOf, routes } from '@halyard/contract'
import { ActionIcon, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useFlagAccessSettings, useRoles } from '../../services/member-queries.ts'
import { canEditByDefault, isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { SelectField } from '../../ui/form/select-field.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'
import { TrashIcon } from '../../ui/icons.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { EffectiveAccess, useEffectiveAccess } from './effective-access.tsx'

type Grant = AnswerOf<typeof routes.roleAccess.get>

type Role = AnswerOf<typeof routes.roles.list>['results'][number]

/** Who can edit this flag: the roles with access to it, and the result for each member. */
export function AccessTab(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const [offset, setOffset] = useState(0)
  const params = paramsOf(props)
  const grants = useApiQuery(grantsKey(props), routes.roleAccess.list, { params })
  const roles = useRoles(project.organization)
  const access = useFlagAccessSettings(project.organization)
  const members = useEffectiveAccess({ project_id: params.project_id, id: String(flag.id) }, offset)
  // Together, so that nothing moves.
  const all = combineQueries({ grants, roles, members })
  return (
    <Loaded query={{ ...all, data: access && all.data }}>
      {data => (
        <Stack gap="xl">
          <section>
            <Title order={2} mb="xs">
              {t.access.grants}
            </Title>
            <RoleGrants
              {...props}
              grants={data.grants.results}
              roles={data.roles}
              intro={canEditByDefault(access) ? t.access.intro : t.access.introViewers}
            />
          </section>
          <EffectiveAccess members={data.members} offset={offset} onPage={setOffset} />
        </Stack>
      )}
    </Loaded>
  )
}

const paramsOf = ({ flag, project }: Pick<TabProps, 'flag' | 'project'>) => ({
  project_id: String(project.id),
  parent_lookup_feature_flag_id: String(flag.id),
})
const grantsKey = ({ flag, project }: Pick<TabProps, 'flag' | 'project'>) => [
  'role-access',
  String(project.id),
  String(flag.id),
]

interface GrantsProps extends Pick<TabProps, 'flag' | 'project'> {
  grants: readonly Grant[]
  roles: readonly Role[]
  intro: string
}

/** The roles that can edit this flag in addition to those that can edit every flag. */
function RoleGrants({ flag, project, grants, roles, intro }: GrantsProps) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = paramsOf({ flag, project })
  const canManage = isAdmin(useMembershipLevel(project.organization))
  const [roleId, setRoleId] = useState('')
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: grantsKey({ flag, project }) }),
      queries.invalidateQueries({ queryKey: ['effective-access', params.project_id] }),
    ])
  const grant = useMutation({
    mutationFn: (role_id: string) => call(routes.roleAccess.create, { params, body: { role_id } }),
    onSuccess: ({ role }, submitted) => {
      notify.success({ message: t.access.granted(role.name) })
      setRoleId(unlessEdited(submitted, ''))
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
    grant.mutate(roleId)
  }
  const free = roles.filter(role => grants.every(({ role_id }) => role_id !== role.id))
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {intro}
      </Text>
      <ProblemAlert error={grant.error ?? revoke.error} />
      {grants.length === 0 ? (
        <Text size="sm">{t.access.none}</Text>
      ) : (
        <DataTable
          label={t.access.grants}
          head={[t.access.role, t.access.members, t.access.since, '']}
          rows={grants.map(grant => ({
            key: grant.id,
            cells: [
              grant.role.name,
              grant.role.members.split(',').join(', '),
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
      {roles.length === 0 && (
        <Text size="sm">
          {t.access.noRoles}{' '}
          {canManage && (
            <Anchor component={Link} to={`/organization/${project.organization}/roles`} size="sm" underline="always">
              {t.access.toRoles}
            </Anchor>
          )}
        </Text>
      )}
      {flag.can_edit && roles.length !== 0 && (
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
}
