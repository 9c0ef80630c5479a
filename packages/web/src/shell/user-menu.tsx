import { routes } from '@halyard/contract'
import { Avatar, Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { markStayingSignedIn } from '../api/resume-session.ts'
import { type Language, languageNames } from '../i18n/choose-language.ts'
import { useLanguage, useMessages } from '../i18n/language.tsx'
import { useCall, useServices } from '../services/services.ts'
import { useMe } from '../services/session-queries.ts'
import { BookIcon, CheckIcon, KeyIcon, LeaveIcon, SwitchIcon } from '../ui/icons.tsx'
import { lazyComponent } from '../ui/lazy-component.tsx'
import classes from './shell.module.css'

const ConfirmDialog = lazyComponent(async () => (await import('../ui/dialog/confirm-dialog.tsx')).ConfirmDialog)

export function UserMenu() {
  const t = useMessages()
  const me = useMe().data
  const signOut = useSignOut()
  const { drafts } = useServices()
  const [isAsking, setIsAsking] = useState(false)
  const navigate = useNavigate()
  return (
    <>
      <Menu width={240} position="top-start">
        <Menu.Target>
          <UnstyledButton className={classes.button as string}>
            <VisuallyHidden>{t.shell.account}: </VisuallyHidden>
            <Avatar size={26} radius="xl" color="indigo" name={me?.first_name ?? ''} aria-hidden="true" />
            <Text size="sm" truncate flex={1}>
              {me?.first_name}
            </Text>
            <SwitchIcon size={16} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{me?.email}</Menu.Label>
          <Menu.Item leftSection={<KeyIcon size={16} />} onClick={() => navigate({ to: '/account' })}>
            {t.shell.account}
          </Menu.Item>
          <Menu.Item component="a" href="/docs/" leftSection={<BookIcon size={16} />}>
            {t.shell.documentation}
          </Menu.Item>
          <Menu.Item component="a" href="/api/docs/" leftSection={<BookIcon size={16} />}>
            {t.shell.apiDocs}
          </Menu.Item>
          <Menu.Divider />
          <ColorSchemeItems />
          <Menu.Divider />
          <LanguageItems />
          <Menu.Divider />
          <Menu.Item
            leftSection={<LeaveIcon size={16} />}
            onClick={() => (drafts.isEmpty() ? signOut() : setIsAsking(true))}
          >
            {t.signIn.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense fallback={null}>
        {isAsking && (
          <ConfirmDialog
            question={t.editor.signOutQuestion}
            detail={t.editor.leaveDetail}
            label={t.signIn.signOut}
            cancelLabel={t.editor.keepEditing}
            onConfirm={signOut}
            onClose={() => setIsAsking(false)}
          />
        )}
      </Suspense>
    </>
  )
}

function ColorSchemeItems() {
  const t = useMessages()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const schemes = [
    ['light', t.shell.light],
    ['dark', t.shell.dark],
    ['auto', t.shell.auto],
  ] as const
  return (
    <>
      <Menu.Label>{t.shell.colorScheme}</Menu.Label>
      {schemes.map(([scheme, label]) => (
        <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} rightSection={mark(colorScheme === scheme)}>
          {label}
        </Menu.Item>
      ))}
    </>
  )
}

function LanguageItems() {
  const t = useMessages()
  const { language, choose } = useLanguage()
  const call = useCall()
  /** Emails follow. Where that fails, the choice holds for this browser alone. */
  const chooseFor = (each: Language) => {
    choose(each)
    call(routes.users.updateMe, { body: { language: each } }).catch(() => undefined)
  }
  return (
    <>
      <Menu.Label>{t.shell.language}</Menu.Label>
      {(Object.keys(languageNames) as Language[]).map(each => (
        <Menu.Item key={each} lang={each} onClick={() => chooseFor(each)} rightSection={mark(language === each)}>
          {languageNames[each]}
        </Menu.Item>
      ))}
    </>
  )
}

const mark = (isChosen: boolean) => (isChosen ? <CheckIcon size={16} /> : undefined)

function useSignOut() {
  const { call, session } = useServices()
  return async () => {
    const ended = await call(routes.session.logout, {}).catch(() => undefined)
    markStayingSignedIn(false)
    // The provider leads back to the sign-in page.
    if (ended?.redirect_url) window.location.assign(ended.redirect_url)
    session.end('signed-out')
  }
}
