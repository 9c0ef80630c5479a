import { VisuallyHidden } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { type ComponentType, useEffect, useId, useRef } from 'react'
import { useInboxCount } from '../change-control/inbox/use-inbox-count.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { canReadAudit } from '../services/permissions.ts'
import { useMembershipLevel } from '../services/session-queries.ts'
import {
  BookIcon,
  BuildingIcon,
  CheckIcon,
  CircleIcon,
  ClockIcon,
  CodeIcon,
  FlagIcon,
  GearIcon,
  LayersIcon,
  PersonIcon,
  PlugIcon,
  PulseIcon,
  QuestionIcon,
  ShieldIcon,
  SnowflakeIcon,
  TableIcon,
  TagIcon,
  UsersIcon,
} from '../ui/icons.tsx'
import classes from './shell.module.css'

interface Entry {
  readonly to: string
  readonly label: string
  readonly Icon: ComponentType<{ size?: number }>
}

/** The main navigation. */
export function useEntries(): { inProject: Entry[]; inOrganization: Entry[] } {
  const t = useMessages()
  const level = useMembershipLevel(useCurrentScope().organizationId)
  const inProject: Entry[] = [
    { to: '/project/$projectId/flags', label: t.shell.flags, Icon: FlagIcon },
    { to: '/project/$projectId/requests', label: t.requests.nav, Icon: CheckIcon },
    { to: '/project/$projectId/tags', label: t.tagsPage.title, Icon: TagIcon },
    { to: '/project/$projectId/health', label: t.shell.health, Icon: PulseIcon },
    { to: '/project/$projectId/debugger', label: t.shell.debugger, Icon: QuestionIcon },
    { to: '/project/$projectId/playground', label: t.shell.playground, Icon: TableIcon },
    { to: '/project/$projectId/cohorts', label: t.shell.cohorts, Icon: CircleIcon },
    { to: '/project/$projectId/persons', label: t.shell.persons, Icon: PersonIcon },
    { to: '/project/$projectId/groups', label: t.shell.groups, Icon: BuildingIcon },
    { to: '/project/$projectId/activity', label: t.shell.activity, Icon: ClockIcon },
    { to: '/project/$projectId/setup', label: t.setup.title, Icon: CodeIcon },
    { to: '/project/$projectId/settings', label: t.shell.projectSettings, Icon: GearIcon },
  ]
  const inOrganization: Entry[] = [
    { to: '/organization/$organizationId/environments', label: t.environments.title, Icon: LayersIcon },
    { to: '/organization/$organizationId/freezes', label: t.freezes.title, Icon: SnowflakeIcon },
    { to: '/organization/$organizationId/plugins', label: t.shell.plugins, Icon: PlugIcon },
    { to: '/organization/$organizationId/members', label: t.shell.members, Icon: UsersIcon },
    { to: '/organization/$organizationId/roles', label: t.shell.roles, Icon: ShieldIcon },
    ...(canReadAudit(level)
      ? [{ to: '/organization/$organizationId/audit', label: t.audit.title, Icon: BookIcon }]
      : []),
  ]
  return { inProject, inOrganization }
}

export function Navigation() {
  const t = useMessages()
  const { projectId, organizationId } = useCurrentScope()
  const { inProject, inOrganization } = useEntries()
  const waiting = useInboxCount(projectId)
  const { pathname } = useLocation()
  const entries = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry changes with the path and the organization.
  useEffect(() => (entries.current ? keepCurrentVisible(entries.current) : undefined), [pathname, organizationId])
  const badges = { '/project/$projectId/requests': { count: waiting, label: t.requests.waiting(waiting) } }
  return (
    <div ref={entries}>
      {projectId && <Section title={t.shell.project} entries={inProject} params={{ projectId }} badges={badges} />}
      {organizationId && <Section title={t.shell.organization} entries={inOrganization} params={{ organizationId }} />}
    </div>
  )
}

/** In a low window the list scrolls, and a notice below it may appear later. */
function keepCurrentVisible(entries: HTMLElement): () => void {
  const observer = new ResizeObserver(() =>
    entries.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }),
  )
  observer.observe(entries.parentElement ?? entries)
  return () => observer.disconnect()
}

interface SectionProps {
  title: string
  entries: Entry[]
  params: Record<string, string>
  /** By path: how much waits there. */
  badges?: Readonly<Record<string, { readonly count: number; readonly label: string }>>
}

function Section(props: SectionProps) {
  const id = useId()
  return (
    <>
      <div className={classes.section} id={id}>
        {props.title}
      </div>
      <ul className={classes.list} aria-labelledby={id}>
        {props.entries.map(({ to, label, Icon }) => (
          <li key={to}>
            <Link to={to} params={props.params as never} className={classes.link as string}>
              <Icon />
              {label}
              <Waiting {...props.badges?.[to]} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

function Waiting({ count = 0, label }: { count?: number; label?: string }) {
  if (count === 0) return null
  return (
    <span className={classes.count}>
      <span aria-hidden="true">{count}</span>
      <VisuallyHidden>{label}</VisuallyHidden>
    </span>
  )
}
