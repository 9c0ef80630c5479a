import { Anchor, Box, Group, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode, useContext, useEffect, useRef } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import classes from './page.module.css'
import { TitleCountContext } from './title-count-context.ts'
import { VisibilityContext } from './visibility-context.ts'

interface PageProps {
  title: string
  /** The pages above this one, from the outermost. */
  parents?: readonly Parent[]
  /** Replaces the title in the heading. */
  heading?: ReactNode
  intro?: ReactNode
  actions?: ReactNode
  /** On a phone the actions are beside the breadcrumbs: for few and small ones. */
  hasSmallActions?: boolean
  /** Lists use the full width. */
  wide?: boolean
  children?: ReactNode
}

interface Parent {
  readonly label: string
  readonly to: string
}

/** A route's page: sets the document title and focuses the heading after navigation. */
export function Page(props: PageProps) {
  const { title, parents = [], heading, intro, actions, hasSmallActions, wide, children } = props
  const ref = useRef<HTMLHeadingElement>(null)
  const isShown = useContext(VisibilityContext)
  const count = useContext(TitleCountContext)
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Halyard`
  }, [title, count])
  useEffect(() => {
    if (isShown && document.activeElement === document.body) ref.current?.focus({ preventScroll: true })
  }, [isShown])
  // Coming from the navigation, the focus moves to the heading, which announces the page.
  useEffect(() => {
    const isOnTheWay = document.activeElement?.closest('nav, [data-skip]') != null
    if (isOnTheWay && ref.current && !ref.current.closest('[aria-hidden]')) ref.current.focus({ preventScroll: true })
  }, [])
  return (
    <Box className={wide ? classes.wide : classes.page}>
      <div className={classes.head} data-small-actions={hasSmallActions || undefined}>
        {parents.length > 0 && <Breadcrumbs parents={parents} />}
        <Group justify="space-between" align="flex-start" gap="xs" className={classes.top as string}>
          <Title order={1} ref={ref} tabIndex={-1} className={classes.title}>
            {heading ?? breakable(title)}
          </Title>
          {actions && (
            <Group gap="xs" className={classes.actions as string}>
              {actions}
            </Group>
          )}
        </Group>
        {intro && (
          <Text c="dimmed" size="sm" mt={4} className={classes.intro as string}>
            {intro}
          </Text>
        )}
      </div>
      {children}
    </Box>
  )
}

function Breadcrumbs({ parents }: { parents: readonly Parent[] }) {
  const t = useMessages()
  return (
    <nav aria-label={t.common.breadcrumbs} className={classes.parents}>
      {parents.map(({ label, to }, index) => (
        <Fragment key={to}>
          {index > 0 && <span aria-hidden="true">/</span>}
          <Anchor component={Link} to={to} size="sm" underline="always">
            {label}
          </Anchor>
        </Fragment>
      ))}
    </nav>
  )
}

/** A long address or key breaks at its punctuation rather than within a word. */
const breakable = (text: string): ReactNode =>
  text.split(/(?<=[@._])(?=\w)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never move.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
