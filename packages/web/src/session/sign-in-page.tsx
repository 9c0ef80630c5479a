import { routes } from '@halyard/contract'
import { Alert, Button, Checkbox, Code, Paper, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Call } from '../api/client.ts'
import { isProblem } from '../api/problem.ts'
import { markStayingSignedIn } from '../api/resume-session.ts'
import type { Session } from '../api/session.ts'
import { useMessages } from '../i18n/language.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'
import { PasswordField } from '../ui/form/password-field.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { SingleSignOn } from './single-sign-on.tsx'

/** Stands alone, without router and queries: it is the first thing a new visitor loads. */
export function SignInPage({ call, session, problem }: { call: Call; session: Session; problem?: unknown }) {
  const t = useMessages()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [stays, setStays] = useState(false)
  const [error, setError] = useState<unknown>(problem ?? null)
  const [isBusy, setIsBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    document.title = `${t.signIn.title} · Halyard`
  }, [t])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setIsBusy(true)
    setError(null)
    try {
      const { api_key, expires_at } = await call(routes.session.login, { body: { email, password, remember: stays } })
      markStayingSignedIn(stays)
      session.begin({ key: api_key, expiresAt: expires_at })
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  const isWrong = isProblem(error) && error.status === 401 && !error.code.startsWith('sso_')
  const message = isWrong ? t.signIn.wrong : error !== null && problemText(t, error)

  return (
    <AuthLayout>
      <Title order={1} ta="center" mb="lg">
        {t.signIn.title}
      </Title>
      {session.endedBecause() === 'expired' && error === null && (
        <Alert color="indigo" mb="md">
          {t.signIn.expired}
        </Alert>
      )}
      <Paper withBorder p="lg" radius="lg">
        <form onSubmit={submit}>
          <Stack>
            {message && (
              <Alert color="red" role="alert">
                {message}
              </Alert>
            )}
            <TextField
              label={t.signIn.email}
              type="email"
              autoComplete="username"
              required
              ref={field}
              value={email}
              onChange={event => setEmail(event.currentTarget.value)}
            />
            <PasswordField
              visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
              label={t.signIn.password}
              autoComplete="current-password"
              required
              value={password}
              onChange={event => setPassword(event.currentTarget.value)}
            />
            <Checkbox label={t.signIn.stay} checked={stays} onChange={event => setStays(event.currentTarget.checked)} />
            <Button type="submit" fullWidth loading={isBusy}>
              {t.signIn.submit}
            </Button>
          </Stack>
        </form>
        <SingleSignOn call={call} email={email} />
      </Paper>
      <details style={{ marginTop: '1rem' }}>
        <summary>{t.signIn.firstOwnerTitle}</summary>
        <Text size="sm" my="xs">
          {t.signIn.firstOwner}
        </Text>
        <Code block style={{ whiteSpace: 'pre-wrap' }}>
          {t.signIn.resetCommand.split(/(?<= )/).map(word => (
            // A line must not end within an option.
            <span key={word} style={{ display: 'inline-block', whiteSpace: 'pre' }}>
              {word}
            </span>
          ))}
        </Code>
      </details>
    </AuthLayout>
  )
}
