import { routes } from '@halyard/contract'
import { Alert, Button, Paper, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { Call } from '../api/client.ts'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'
import { PasswordField } from '../ui/form/password-field.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { CommandLine } from './command-line.tsx'
import { signInPath } from './sign-in-path.ts'

export const resetPath = '/reset-password'

/** Requests a link, or sets a new password with the one that was followed. The token is after the hash: no server logs it. */
export function ResetPasswordPage({ call }: { call: Call }) {
  const t = useMessages()
  const [token, setToken] = useState(() => window.location.hash.slice(1))
  // The link may be followed in the tab that requested it.
  useEffect(() => {
    const read = () => setToken(window.location.hash.slice(1))
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [])
  useEffect(() => {
    document.title = `${t.reset.title} · Halyard`
    // Neither in the history nor on a screenshot.
    if (token !== '') window.history.replaceState(null, '', resetPath)
  }, [t, token])
  return (
    <AuthLayout>
      <Title order={1} ta="center" mb="lg">
        {t.reset.title}
      </Title>
      <Paper withBorder p="lg" radius="lg">
        {token === '' ? <RequestLink call={call} /> : <ChoosePassword call={call} token={token} />}
      </Paper>
      <Text ta="center" mt="md" size="sm">
        <a href={signInPath}>{t.signUp.toSignIn}</a>
      </Text>
    </AuthLayout>
  )
}

function RequestLink({ call }: { call: Call }) {
  const t = useMessages()
  const [byEmail, setByEmail] = useState<boolean>()
  const [email, setEmail] = useState('')
  const { state, submit } = useForm(() => call(routes.passwordReset.request, { body: { email } }))
  useEffect(() => {
    call(routes.passwordReset.get, {}).then(
      reply => setByEmail(reply.by_email),
      () => setByEmail(true),
    )
  }, [call])
  if (byEmail === undefined) return null
  if (!byEmail) {
    return (
      <Stack gap="xs">
        <Text size="sm">{t.reset.noEmail}</Text>
        <CommandLine command={t.signIn.resetCommand} />
      </Stack>
    )
  }
  if (state.isDone) return <Alert color="green">{t.reset.sent(email)}</Alert>
  return (
    <ResetForm onSubmit={submit} error={state.error} isBusy={state.isBusy} label={t.reset.request}>
      <Text size="sm">{t.reset.intro}</Text>
      <TextField
        label={t.signIn.email}
        type="email"
        autoComplete="username"
        autoFocus
        required
        value={email}
        onChange={event => setEmail(event.currentTarget.value)}
      />
    </ResetForm>
  )
}

function ChoosePassword({ call, token }: { call: Call; token: string }) {
  const t = useMessages()
  const [password, setPassword] = useState('')
  const { state, submit } = useForm(() => call(routes.passwordReset.complete, { body: { token, password } }))
  const isGone = isProblem(state.error) && (state.error.status === 404 || state.error.field === 'token')
  if (isGone) {
    return (
      <Stack>
        <Alert color="red" role="alert">
          {t.reset.gone}
        </Alert>
        <Button component="a" href={resetPath} variant="default">
          {t.reset.again}
        </Button>
      </Stack>
    )
  }
  if (state.isDone) return <Alert color="green">{t.reset.done}</Alert>
  return (
    <ResetForm onSubmit={submit} error={state.error} isBusy={state.isBusy} label={t.reset.submit}>
      <PasswordField
        visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
        label={t.account.newPassword}
        description={t.signUp.passwordHint}
        autoComplete="new-password"
        autoFocus
        required
        minLength={8}
        value={password}
        onChange={event => setPassword(event.currentTarget.value)}
      />
    </ResetForm>
  )
}

interface FormProps {
  onSubmit: (event: FormEvent) => void
  error: unknown
  isBusy: boolean
  label: string
  children: ReactNode
}

function ResetForm({ onSubmit, error, isBusy, label, children }: FormProps) {
  const t = useMessages()
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {error !== null && (
          <Alert color="red" role="alert">
            {problemText(t, error)}
          </Alert>
        )}
        {children}
        <Button type="submit" fullWidth loading={isBusy}>
          {label}
        </Button>
      </Stack>
    </form>
  )
}

function useForm(send: () => Promise<unknown>) {
  const [state, setState] = useState<{ isBusy: boolean; isDone: boolean; error: unknown }>({
    isBusy: false,
    isDone: false,
    error: null,
  })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setState({ isBusy: true, isDone: false, error: null })
    await send().then(
      () => setState({ isBusy: false, isDone: true, error: null }),
      error => setState({ isBusy: false, isDone: false, error }),
    )
  }
  return { state, submit }
}
