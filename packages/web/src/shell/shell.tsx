import { ActionIcon, Burger, Text } from '@mantine/core'
import { useLocation, useParams } from '@tanstack/react-router'
import { Suspense, useEffect, useRef, useState } from 'react'
import { FreezeNotice, FrozenButton } from '../change-control/freezes/freeze-notice.tsx'
import { InboxOutlet } from '../change-control/inbox/inbox-outlet.tsx'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { recordLastProject } from '../services/last-project.ts'
import { useCredentials, useServices } from '../services/services.ts'
import { useProject, useSessionReady } from '../services/session-queries.ts'
import { Loading } from '../ui/feedback/problems.tsx'
import { SearchIcon } from '../ui/icons.tsx'
import { restoreLostFocus } from '../ui/layout/restore-focus.ts'
import { VisibilityContext } from '../ui/layout/visibility-context.ts'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { Logo } from '../ui/logo.tsx'
import { EnvironmentSwitcher } from './environment-switcher.tsx'
import { useLiveUpdates } from './live-updates.ts'
import { Navigation } from './navigation.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { PaletteButton, usePalette } from './palette/palette-button.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import classes from './shell.module.css'
import { UserMenu } from './user-menu.tsx'

const SignInAgain = lazyComponent(async () => (await import('../session/sign-in-again.tsx')).SignInAgain)

/** The layout of every signed-in page: navigation on the left, content on the right. */
export function Shell() {
  const t = useMessages()
  const { pathname } = useLocation()
  const { isOpen, toggle, burger } = useNarrowMenu(pathname)
  const main = useRef<HTMLElement>(null)
  const hasBearings = useSessionReady()
  useEffect(() => (main.current ? restoreLostFocus(main.current) : undefined), [])
  useLiveUpdates()
  const { session } = useServices()
  const isExpired = useCredentials() === undefined && session.endedBecause() === 'expired'
  const palette = usePalette()
  const { projectId } = useCurrentScope()
  const project = useProject(projectId ?? '')
  const { projectId: inAddress } = useParams({ strict: false }) as { projectId?: string }
  useEffect(() => {
    if (inAddress !== undefined) recordLastProject(localStorage, inAddress)
  }, [inAddress])
  return (
    <div className={classes.app} data-waiting={!hasBearings || undefined}>
      <a href="#content" className={classes.skip} data-skip>
        {t.common.skipToContent}
      </a>
      <div className={classes.header}>
        <Burger
          ref={burger}
          opened={isOpen}
          onClick={toggle}
          size="sm"
          aria-label={isOpen ? t.shell.closeMenu : t.shell.openMenu}
          aria-expanded={isOpen}
        />
        <Logo />
        <Text fw={600} truncate flex={1}>
          {project?.name ?? 'Halyard'}
        </Text>
        {projectId !== undefined && !isOpen && <FrozenButton projectId={projectId} onOpen={toggle} />}
        <ActionIcon variant="subtle" color="gray" size="lg" onClick={palette.open} aria-label={t.palette.open}>
          <SearchIcon size={18} />
        </ActionIcon>
      </div>
      <nav className={classes.navbar} data-closed={!isOpen || undefined} aria-label={t.shell.navigation}>
        <div className={classes.part}>
          <ProjectSwitcher />
          {project && <EnvironmentSwitcher project={project} />}
          <PaletteButton onOpen={palette.open} />
        </div>
        <div className={classes.scroll}>
          <Navigation />
        </div>
        <div className={classes.part}>
          {projectId !== undefined && <FreezeNotice projectId={projectId} />}
          <UserMenu />
        </div>
      </nav>
      <main ref={main} id="content" tabIndex={-1} className={classes.main} data-covered={isOpen || undefined}>
        <OfflineBanner />
        {!hasBearings && (
          <div className={classes.wait}>
            <Loading />
          </div>
        )}
        <VisibilityContext value={hasBearings}>
          <InboxOutlet projectId={projectId} />
        </VisibilityContext>
        <Suspense fallback={null}>{isExpired && <SignInAgain />}</Suspense>
      </main>
      {palette.dialog}
    </div>
  )
}

/** On a phone the navigation covers the page. Navigating or Escape closes it. */
function useNarrowMenu(pathname: string) {
  const [openAt, setOpenAt] = useState<string>()
  const burger = useRef<HTMLButtonElement>(null)
  const isOpen = openAt === pathname
  useEffect(() => {
    if (!isOpen) return
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || document.querySelector('[role="menu"], [role="dialog"], dialog[open]')) return
      setOpenAt(undefined)
      burger.current?.focus()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [isOpen])
  return { isOpen, toggle: () => setOpenAt(isOpen ? undefined : pathname), burger }
}
