import { type PendingSignIn, routes } from '@halyard/contract'
import { Alert, Anchor, Button, Checkbox, Paper, Stack, Text, Title } from '@mantine/core'
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
import { CommandLine } from './command-line.tsx'
import { type FactorAnswer, FactorForm } from './factor-form.tsx'
import { getPasskey, hasPasskeys } from './passkey.ts'
import { resetPath } from './reset-password-page.tsx'
import { SingleSignOn } from './single-sign-on.tsx'

/** Stands alone, without router and queries: it is the first thing a new visitor loads. */
export function SignInPage({ call, session, problem }: { call: Call; session: Session; problem?: unknown }) {
  const t = useMessages()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [stays, setStays] = useState(false)
  const [error, setError] = useState<unknown>(problem ?? null)
  const [isBusy, setIsBusy] = useState(false)
  const [isDismissed, setIsDismissed] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    document.title = `${t.signIn.title} · Halyard`
  }, [t])
  const [pending, setPending] = useState<PendingSignIn>()
  const attempt = async (send: () => Promise<SignInReply>) => {
    setIsBusy(true)
    setError(null)
    try {
      const reply = await send()
      if ('token' in reply) {
        setPending(reply)
        setIsBusy(false)
        return
      }
      markStayingSignedIn(stays)
      session.begin({ key: reply.api_key, expiresAt: reply.expires_at })
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    attempt(() => call(routes.session.login, { body: { email, password, remember: stays } }))
  }
  const answer = (token: string, sent: FactorAnswer) =>
    attempt(() => call(routes.secondFactors.signIn, { body: { token, ...sent } }))
  const signInWithPasskey = async () => {
    setError(null)
    try {
      const { token, options } = await call(routes.secondFactors.passkeyOptions, {})
      const passkey = await getPasskey(options)
      if (passkey) {
        await attempt(() => call(routes.secondFactors.passkeySignIn, { body: { token, passkey, remember: stays } }))
      } else setIsDismissed(true)
    } catch (failure) {
      setError(failure)
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
      {pending ? (
        <SecondStep
          pending={pending}
          error={error}
          isBusy={isBusy}
          onAnswer={sent => answer(pending.token, sent)}
          onRestart={() => {
            setPending(undefined)
            setError(null)
          }}
        />
      ) : (
        <>
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
                <Checkbox
                  label={t.signIn.stay}
                  checked={stays}
                  onChange={event => setStays(event.currentTarget.checked)}
                />
                <Button type="submit" fullWidth loading={isBusy}>
                  {t.signIn.submit}
                </Button>
                {hasPasskeys() && (
                  <Button variant="default" fullWidth onClick={signInWithPasskey}>
                    {t.secondFactor.signInWithPasskey}
                  </Button>
                )}
                {isDismissed && error === null && (
                  <Text size="sm" role="alert">
                    {t.secondFactor.passkeyFailed}
                  </Text>
                )}
                <Anchor href={resetPath} size="sm" underline="always">
                  {t.reset.link}
                </Anchor>
              </Stack>
            </form>
            <SingleSignOn call={call} email={email} />
          </Paper>
          <details style={{ marginTop: '1rem' }}>
            <summary>{t.signIn.firstOwnerTitle}</summary>
            <Text size="sm" my="xs">
              {t.signIn.firstOwner}
            </Text>
            <CommandLine command={t.signIn.resetCommand} />
          </details>
        </>
      )}
    </AuthLayout>
  )
}

type SignInReply = PendingSignIn | { readonly api_key: string; readonly expires_at: string }

interface StepProps {
  pending: PendingSignIn
  error: unknown
  isBusy: boolean
  onAnswer: (answer: FactorAnswer) => void
  onRestart: () => void
}

/** After the password: the second factor. */
export function SecondStep({ pending, error, isBusy, onAnswer, onRestart }: StepProps) {
  const t = useMessages()
  const isWrong = isProblem(error) && error.status === 401
  return (
    <Paper withBorder p="lg" radius="lg">
      <Stack>
        <Text size="sm">{t.secondFactor.intro}</Text>
        <FactorForm
          offer={pending}
          isBusy={isBusy}
          error={error === null ? undefined : isWrong ? t.secondFactor.wrong : problemText(t, error)}
          label={t.signIn.submit}
          onAnswer={onAnswer}
        />
        <Anchor component="button" type="button" size="sm" underline="always" onClick={onRestart}>
          {t.secondFactor.restart}
        </Anchor>
      </Stack>
    </Paper>
  )
}
