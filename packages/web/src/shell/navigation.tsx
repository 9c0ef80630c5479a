import { VisuallyHidden } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useEffect, useId, useRef } from 'react'
import { useInboxCount } from '../change-control/inbox/use-inbox.ts'
import { useCurrentScope } from '../services/current-scope.ts'
import { type EntryGroup, useEntryGroups } from './navigation-entries.ts'
import classes from './shell.module.css'

export function Navigation() {
  const { projectId, organizationId } = useCurrentScope()
  const groups = useEntryGroups()
  const inbox = useInboxCount(projectId)
  const { pathname } = useLocation()
  const entries = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry changes with the path and the organization.
  useEffect(() => (entries.current ? keepCurrentVisible(entries.current) : undefined), [pathname, organizationId])
  const badges = { '/project/$projectId/requests': inbox }
  return (
    <div ref={entries}>
      {groups.map(
        group =>
          group.entries.length > 0 && (
            <Section key={group.title ?? ''} group={group} params={{ projectId, organizationId }} badges={badges} />
          ),
      )}
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
  group: EntryGroup
  params: { projectId: string | undefined; organizationId: string | undefined }
  /** By path: how much waits there. */
  badges?: Readonly<Record<string, { readonly count: number; readonly label: string }>>
}

function Section(props: SectionProps) {
  const id = useId()
  const { title, entries } = props.group
  return (
    <>
      {title && (
        <div className={classes.section} id={id}>
          {title}
        </div>
      )}
      <ul className={classes.list} {...(title && { 'aria-labelledby': id })}>
        {entries.map(({ to, label, Icon, isExact = false }) => (
          <li key={to}>
            <Link
              to={to}
              params={props.params as never}
              activeOptions={{ exact: isExact, includeSearch: false }}
              className={classes.link as string}
            >
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
