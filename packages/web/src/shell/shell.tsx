import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { keepFocus } from '../app/keep-focus.ts'
import { useMessages } from '../messages/language.tsx'
import { Jump } from './jump.tsx'
import { useLiveUpdates } from './live-updates.ts'
import { Logo } from './logo.tsx'
import { Navigation } from './navigation.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import classes from './shell.module.css'
import { UserMenu } from './user-menu.tsx'

/** The frame around every page: where one is on the left, the page on the right. */
export function Shell() {
  const t = useMessages()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  useEffect(() => (main.current ? keepFocus(main.current) : undefined), [])
  useLiveUpdates()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes.
  useEffect(close, [pathname])
  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={0}
    >
      <a href="#content" className={classes.skip} data-skip>
        {t.common.skipToContent}
      </a>
      <AppShell.Header hiddenFrom="sm" px="sm">
        <Group h="100%" gap="sm">
          <Burger
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
      <AppShell.Navbar className={classes.navbar} aria-label={t.shell.navigation}>
        <AppShell.Section p="xs">
          <ProjectSwitcher />
          <Jump />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea} px="xs">
          <Navigation />
        </AppShell.Section>
        <AppShell.Section p="xs">
          <UserMenu />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="content" tabIndex={-1} className={classes.main}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}
