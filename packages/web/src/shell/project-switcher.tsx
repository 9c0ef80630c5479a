import { Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { isAdmin } from '../services/permissions.ts'
import { useOrganizations, useProjects } from '../services/session-queries.ts'
import { CheckIcon, PlusIcon, SwitchIcon } from '../ui/icons.tsx'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { Logo } from '../ui/logo.tsx'
import classes from './shell.module.css'
import { useOpenProject } from './use-open-project.ts'

const NewScopeDialog = lazyComponent(async () => (await import('./new-scope-dialog.tsx')).NewScopeDialog)

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
      <Suspense fallback={null}>
        {making && (
          <NewScopeDialog what={making} organizationId={organizationId} onClose={() => setMaking(undefined)} />
        )}
      </Suspense>
    </>
  )
}
