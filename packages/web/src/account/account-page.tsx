import { type ApiKey, routes, type User } from '@halyard/contract'
import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { KeyName, ScopeBadges } from '../keys/access-fields.tsx'
import { useCall } from '../services/services.ts'
import { useMe } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { Emails } from './emails.tsx'
import { NewKey } from './new-key.tsx'
import { SecondFactors } from './second-factors.tsx'
import { SignIns } from './sign-ins.tsx'

export function AccountPage() {
  const t = useMessages()
  const me = useMe()
  return (
    <Page title={t.shell.account}>
      <Loaded query={me}>
        {user => (
          <Stack gap="xl">
            <Profile user={user} />
            <Emails user={user} />
            {user.has_password && <SecondFactors />}
            <SignIns />
            <Keys />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Profile({ user }: { user: User }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [name, setName] = useState(user.first_name)
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const save = useMutation({
    mutationFn: () =>
      call(routes.users.updateMe, {
        body: { first_name: name, ...(password !== '' && { password, current_password: current }) },
      }),
    onSuccess: me => {
      queries.setQueryData(['me'], me)
      setCurrent('')
      setPassword('')
      notify.success({ message: t.editor.saved })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const atField = ['first_name', 'password', 'current_password'].some(field => fieldProblem(t, save.error, field))
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        {!atField && <ProblemAlert error={save.error} />}
        <TextInput
          label={t.signUp.firstName}
          value={name}
          error={fieldProblem(t, save.error, 'first_name')}
          onChange={event => setName(event.currentTarget.value)}
          autoComplete="name"
        />
        <TextInput label={t.signIn.email} value={user.email} readOnly />
        <PasswordInput
          visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
          label={t.account.newPassword}
          description={t.signUp.passwordHint}
          autoComplete="new-password"
          value={password}
          error={fieldProblem(t, save.error, 'password')}
          onChange={event => setPassword(event.currentTarget.value)}
        />
        {password !== '' && (
          <PasswordInput
            visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
            label={t.account.currentPassword}
            autoComplete="current-password"
            value={current}
            error={fieldProblem(t, save.error, 'current_password')}
            onChange={event => setCurrent(event.currentTarget.value)}
          />
        )}
        <Group>
          <Button type="submit" loading={save.isPending}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Keys() {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const keys = useApiQuery(['api-keys'], routes.apiKeys.list, {})
  const refresh = () => queries.invalidateQueries({ queryKey: ['api-keys'] })
  const revoke = async (key: ApiKey) => {
    await call(routes.apiKeys.remove, { params: { key_id: key.id } })
    await refresh()
  }
  return (
    <Stack>
      <div>
        <Title order={2}>{t.account.keys}</Title>
        <Text size="sm" c="dimmed">
          {t.account.keysIntro}
        </Text>
      </div>
      <NewKey onCreated={refresh} />
      <Loaded query={keys}>
        {all => (
          <DataTable
            label={t.account.keys}
            head={[t.account.label, t.account.scopes, t.account.lastUsed, t.account.expires, '']}
            rows={all.map(key => ({
              key: key.id,
              cells: [
                <KeyName key="label" label={key.label} mask={key.mask_value} />,
                <ScopeBadges key="scopes" scopes={key.scopes} />,
                key.last_used_at ? day(key.last_used_at) : t.common.never,
                key.expires_at ? day(key.expires_at) : t.common.never,
                <ConfirmButton
                  key="revoke"
                  label={t.account.revoke}
                  of={key.label}
                  question={t.account.revokeQuestion(key.label)}
                  detail={t.account.revokeDetail}
                  done={t.account.revoked(key.label)}
                  onConfirm={() => revoke(key)}
                />,
              ],
            }))}
          />
        )}
      </Loaded>
    </Stack>
  )
}
