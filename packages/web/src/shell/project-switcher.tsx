import { type Project, routes } from '@halyard/contract'
import { Button, Menu, Stack, Text, TextInput, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useOrganizations, useProjects } from '../services/session-queries.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { CheckIcon, PlusIcon, SwitchIcon } from '../ui/icons.tsx'
import { Logo } from './logo.tsx'
import classes from './shell.module.css'

export function ProjectSwitcher() {
  const t = useMessages()
  const { projectId, organizationId } = useCurrentScope()
  const projects = useProjects().data ?? []
  const organizations = useOrganizations().data ?? []
  const open = useOpenProject()
  const [making, setMaking] = useState<'project' | 'organization'>()
  const project = projects.find(({ id }) => String(id) === projectId)
  const organization = organizations.find(({ id }) => id === organizationId)
  const canCreate = isAdmin(organization?.membership_level)
  const title = project?.name ?? organization?.name ?? 'Halyard'

  return (
    <>
      <Menu width={260} position="bottom-start">
        <Menu.Target>
          <UnstyledButton className={classes.button}>
            <VisuallyHidden>{t.shell.switchProject}: </VisuallyHidden>
            <Logo />
            <span style={{ minWidth: 0, flex: 1 }}>
              <Text size="sm" fw={600} truncate>
                {title}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {organization?.name}
              </Text>
            </span>
            <SwitchIcon size={16} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown mah="70dvh" style={{ overflowY: 'auto' }}>
          {organizations.map(({ id, name }) => (
            <div key={id}>
              <Menu.Label>{name}</Menu.Label>
              {projects
                .filter(each => each.organization === id)
                .map(each => (
                  <Menu.Item
                    key={each.id}
                    onClick={() => open(each)}
                    rightSection={String(each.id) === projectId ? <CheckIcon size={16} /> : undefined}
                  >
                    {each.name}
                  </Menu.Item>
                ))}
            </div>
          ))}
          <Menu.Divider />
          {canCreate && (
            <Menu.Item leftSection={<PlusIcon size={16} />} onClick={() => setMaking('project')}>
              {t.shell.newProject}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<PlusIcon size={16} />} onClick={() => setMaking('organization')}>
            {t.shell.newOrganization}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {making && <Make what={making} organizationId={organizationId} onClose={() => setMaking(undefined)} />}
    </>
  )
}

function useOpenProject() {
  const call = useCall()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return (project: Pick<Project, 'id'>) => {
    // Stored on the server, so that the next sign-in starts here; nothing waits for it.
    call(routes.users.updateMe, { body: { set_current_team: project.id } })
      .then(me => queries.setQueryData(['me'], me))
      .catch(() => {})
    return navigate({ to: '/project/$projectId/flags', params: { projectId: String(project.id) } })
  }
}

function Make(props: { what: 'project' | 'organization'; organizationId: string | undefined; onClose: () => void }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const open = useOpenProject()
  const [name, setName] = useState('')
  const isProject = props.what === 'project'
  const make = useMutation({
    mutationFn: async (): Promise<{ id: number } | undefined> => {
      if (isProject) {
        const organization = props.organizationId
        return call(routes.projects.create, { body: { name, ...(organization && { organization }) } })
      }
      return (await call(routes.organizations.create, { body: { name } })).teams[0]
    },
    onSuccess: async project => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['projects'] }),
        queries.invalidateQueries({ queryKey: ['organizations'] }),
      ])
      props.onClose()
      if (project) await open(project)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <Dialog onClose={props.onClose} title={isProject ? t.shell.newProject : t.shell.newOrganization}>
      <form onSubmit={submit}>
        <Stack>
          <ProblemAlert error={make.error} />
          <TextInput
            label={isProject ? t.shell.projectName : t.shell.organizationName}
            required
            withAsterisk={false}
            data-autofocus
            maxLength={isProject ? 200 : 64}
            value={name}
            onChange={event => setName(event.currentTarget.value)}
          />
          <Button type="submit" loading={make.isPending}>
            {t.common.create}
          </Button>
        </Stack>
      </form>
    </Dialog>
  )
}
