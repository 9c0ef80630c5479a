import { type EnvironmentSet, routes } from '@halyard/contract'
import { Menu, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { Link, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import { useEnvironmentSetOf } from '../flags/environments/environment-queries.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { CheckIcon, LayersIcon, SwitchIcon } from '../ui/icons.tsx'
import { pathIn } from './path-in-project.ts'
import classes from './shell.module.css'

interface Props {
  project: { readonly id: number; readonly organization: string }
}

/** Shows the same page in another environment of the application. */
export function EnvironmentSwitcher({ project }: Props) {
  const t = useMessages()
  const { set, isPending } = useEnvironmentSetOf(project)
  const open = useOpenEnvironment(project.organization, set?.id)
  const current = set?.environments.find(each => each.project === project.id)
  const environments = `/organization/${project.organization}/environments`
  return (
    <Menu width={212} position="bottom-start">
      <Menu.Target>
        <UnstyledButton className={classes.environment} disabled={isPending}>
          <VisuallyHidden>{t.shell.switchEnvironment}: </VisuallyHidden>
          <span className={classes.dot} data-production={current?.is_production || undefined} />
          <span className={classes.name}>{current?.name ?? (isPending ? '' : t.shell.noEnvironment)}</span>
          <SwitchIcon size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah="70dvh" style={{ overflowY: 'auto' }}>
        {set && <Menu.Label>{set.name}</Menu.Label>}
        {set?.environments.map(each => (
          <Menu.Item
            key={each.project}
            onClick={() => open(each)}
            rightSection={each === current ? <CheckIcon size={16} /> : undefined}
          >
            {each.name}
          </Menu.Item>
        ))}
        {set && <Menu.Divider />}
        <Menu.Item
          leftSection={<LayersIcon size={16} />}
          renderRoot={props => <Link {...props} to={set ? `${environments}/${set.id}` : environments} />}
        >
          {set ? t.environments.compare : t.shell.setUpEnvironments}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A flag has another id in each environment: it is looked up by its key. */
function useOpenEnvironment(organizationId: string, setId: number | undefined) {
  const call = useCall()
  const navigate = useNavigate()
  const { flagId } = useParams({ strict: false }) as { flagId?: string }
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return async ({ project }: EnvironmentSet['environments'][number]) => {
    const to = pathIn(path, project)
    if (flagId === undefined || setId === undefined) return navigate({ to })
    const projectId = path.split('/')[2] ?? ''
    try {
      const { key } = await call(routes.flags.get, { params: { project_id: projectId, id: flagId } })
      const params = { parent_lookup_organization_id: organizationId, set_id: String(setId) }
      const { results } = await call(routes.environments.flags, { params, query: { search: key } })
      const row = results.find(each => each.key === key)
      const there = row?.environments.find(each => each.project === project)?.flag_id
      return await navigate(there ? { to: `${to}/${there}` } : { to, search: { q: key } as never })
    } catch {
      return navigate({ to })
    }
  }
}
