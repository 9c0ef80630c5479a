import { Text } from '@mantine/core'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { useOrganizations, useProject } from '../services/session-queries.ts'
import { type PageLink, useOrganizationTabs, useProjectTabs } from './navigation-entries.ts'
import classes from './settings-layout.module.css'

/** The settings of a project: one tab and one address for each page. */
export function ProjectSettings() {
  const t = useMessages()
  const name = useProject(useCurrentScope().projectId ?? '')?.name
  return <SettingsLayout title={t.shell.projectSettings} of={name} tabs={useProjectTabs()} />
}

/** The settings of an organization: one tab and one address for each page. */
export function OrganizationSettings() {
  const t = useMessages()
  const { organizationId } = useCurrentScope()
  const name = useOrganizations().data?.find(({ id }) => id === organizationId)?.name
  return <SettingsLayout title={t.shell.organizationSettings} of={name} tabs={useOrganizationTabs()} />
}

interface Props {
  title: string
  /** The name of the project or organization. */
  of: string | undefined
  tabs: readonly PageLink[]
}

function SettingsLayout({ title, of, tabs }: Props) {
  const { pathname } = useLocation()
  const row = useRef<HTMLUListElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another tab to bring into sight.
  useEffect(() => {
    const current = row.current?.querySelector<HTMLElement>('[aria-current]')
    // Horizontal only: the page keeps its scroll position.
    if (row.current && current) row.current.scrollLeft = current.offsetLeft - row.current.clientWidth / 3
  }, [pathname])
  const params = useCurrentScope()
  return (
    <>
      <nav className={classes.settings} aria-label={title}>
        <Text size="sm" c="dimmed">
          {of} / {title}
        </Text>
        <ul className={classes.tabs} ref={row}>
          {tabs.map(({ to, label }) => (
            <li key={to}>
              <Link to={to} params={params as never} activeOptions={{ exact: true }} className={classes.tab as string}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Outlet />
    </>
  )
}
