import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useSessionReady } from '../services/session-queries.ts'
import { Loading } from '../ui/feedback/problems.tsx'
import { restoreLostFocus } from '../ui/layout/restore-focus.ts'
import { VisibilityContext } from '../ui/layout/visibility-context.ts'
import { useLiveUpdates } from './live-updates.ts'
import { Logo } from './logo.tsx'
import { Navigation } from './navigation.tsx'
import { PaletteButton } from './palette.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import classes from './shell.module.css'
import { UserMenu } from './user-menu.tsx'

/** The layout of every signed-in page: navigation on the left, content on the right. */
export function Shell() {
  const t = useMessages()
  const { pathname } = useLocation()
  const { isOpen, toggle, burger } = useNarrowMenu(pathname)
  const main = useRef<HTMLElement>(null)
  const hasBearings = useSessionReady()
  useEffect(() => (main.current ? restoreLostFocus(main.current) : undefined), [])
  useLiveUpdates()
  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={0}
      className={hasBearings ? undefined : classes.waiting}
    >
      <a href="#content" className={classes.skip} data-skip>
        {t.common.skipToContent}
      </a>
      <AppShell.Header hiddenFrom="sm" px="sm">
        <Group h="100%" gap="sm">
          <Burger
            ref={burger}
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={isOpen ? t.shell.closeMenu : t.shell.openMenu}
            aria-expanded={isOpen}
          />
          <Logo />
          <Text fw={600}>Halyard</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} data-closed={!isOpen || undefined} aria-label={t.shell.navigation}>
        <AppShell.Section p="xs">
          <ProjectSwitcher />
          <PaletteButton />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} px="xs">
          <Navigation />
        </AppShell.Section>
        <AppShell.Section p="xs">
          <UserMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="content" tabIndex={-1} className={classes.main} data-covered={isOpen || undefined}>
        {!hasBearings && (
          <div className={classes.wait}>
            <Loading />
          </div>
        )}
        <VisibilityContext value={hasBearings}>
          <Outlet />
        </VisibilityContext>
      </AppShell.Main>
    </AppShell>
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
      if (key !== 'Escape' || document.querySelector('[role="menu"], [role="dialog"]')) return
      setOpenAt(undefined)
      burger.current?.focus()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [isOpen])
  return { isOpen, toggle: () => setOpenAt(isOpen ? undefined : pathname), burger }
}
