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

interface SignInPageProps {
  call: Call
  session: Session
  problem?: unknown
}

/** Stands alone, without router and queries: it is the first thing a new visitor loads. */
export function SignInPage({ call, session, problem }: SignInPageProps) {
  const t = useMessages()
  useEffect(() => {
    document.title = `${t.signIn.title} · Halyard`
  }, [t])
  const signIn = useSignIn(call, session, problem)
  const { pending, error, isBusy } = signIn
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
          onAnswer={sent => signIn.answer(pending.token, sent)}
          onRestart={signIn.restart}
        />
      ) : (
        <>
          <Paper withBorder p="lg" radius="lg">
            <FirstStep {...signIn} />
            <SingleSignOn call={call} email={signIn.credentials.email} />
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

/** What is typed, the requests and their outcome. */
function useSignIn(call: Call, session: Session, problem: unknown) {
  const [credentials, setCredentials] = useState({ email: '', password: '', remember: false })
  const [error, setError] = useState<unknown>(problem ?? null)
  const [isBusy, setIsBusy] = useState(false)
  const [isDismissed, setIsDismissed] = useState(false)
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
      markStayingSignedIn(credentials.remember)
      session.begin({ key: reply.api_key, expiresAt: reply.expires_at })
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  return {
    credentials,
    error,
    isBusy,
    isDismissed,
    pending,
    change: (typed: Partial<typeof credentials>) => setCredentials(former => ({ ...former, ...typed })),
    submit: () => attempt(() => call(routes.session.login, { body: credentials })),
    answer: (token: string, sent: FactorAnswer) =>
      attempt(() => call(routes.secondFactors.signIn, { body: { token, ...sent } })),
    restart: () => {
      setPending(undefined)
      setError(null)
    },
    signInWithPasskey: async () => {
      setError(null)
      try {
        const { token, options } = await call(routes.secondFactors.passkeyOptions, {})
        const passkey = await getPasskey(options)
        if (!passkey) return setIsDismissed(true)
        const { remember } = credentials
        await attempt(() => call(routes.secondFactors.passkeySignIn, { body: { token, passkey, remember } }))
      } catch (failure) {
        setError(failure)
      }
    },
  }
}

/** Password or passkey. */
function FirstStep({
  credentials,
  error,
  isBusy,
  isDismissed,
  change,
  submit,
  signInWithPasskey,
}: ReturnType<typeof useSignIn>) {
  const t = useMessages()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const isWrong = isProblem(error) && error.status === 401 && !error.code.startsWith('sso_')
  const message = isWrong ? t.signIn.wrong : error !== null && problemText(t, error)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit()
  }
  return (
    <form onSubmit={onSubmit}>
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
          value={credentials.email}
          onChange={event => change({ email: event.currentTarget.value })}
        />
        <PasswordField
          visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
          label={t.signIn.password}
          autoComplete="current-password"
          required
          value={credentials.password}
          onChange={event => change({ password: event.currentTarget.value })}
        />
        <Checkbox
          label={t.signIn.stay}
          checked={credentials.remember}
          onChange={event => change({ remember: event.currentTarget.checked })}
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
