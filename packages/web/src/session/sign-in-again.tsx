import { type PendingSignIn, routes } from '@halyard/contract'
import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { resumeSession, staysSignedIn } from '../api/resume-session.ts'
import { useMessages } from '../i18n/language.tsx'
import { useServices } from '../services/services.ts'
import { useMe } from '../services/session-queries.ts'
import { TopDialog } from '../ui/dialog/top-dialog.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'
import { PasswordField } from '../ui/form/password-field.tsx'
import type { FactorAnswer } from './factor-form.tsx'
import { SecondStep } from './sign-in-page.tsx'
import { goToSignIn } from './sign-in-path.ts'

/** When the session expires, asks for the password over the page, which keeps everything that was typed into it. */
export function SignInAgain() {
  const email = useMe().data?.email
  const { session } = useServices()
  const queries = useQueryClient()
  const [isResuming, setIsResuming] = useState(staysSignedIn)
  useEffect(() => {
    if (!isResuming) return
    resumeSession(session).then(isResumed => (isResumed ? queries.invalidateQueries() : setIsResuming(false)))
  }, [isResuming, session, queries])
  return email === undefined || isResuming ? null : <PasswordDialog email={email} />
}

function PasswordDialog({ email }: { email: string }) {
  const t = useMessages()
  const { call, session } = useServices()
  const queries = useQueryClient()
  const [password, setPassword] = useState('')
  const [pending, setPending] = useState<PendingSignIn>()
  const signIn = useMutation({
    mutationFn: (answer: FactorAnswer) =>
      pending
        ? call(routes.secondFactors.signIn, { body: { token: pending.token, ...answer } })
        : call(routes.session.login, { body: { email, password, remember: staysSignedIn() } }),
    onSuccess: reply => {
      if ('token' in reply) return setPending(reply)
      session.begin({ key: reply.api_key, expiresAt: reply.expires_at })
      return queries.invalidateQueries()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({})
  }
  const leave = () => {
    session.forget()
    goToSignIn({ isReturning: false })
  }
  const isWrong = isProblem(signIn.error) && signIn.error.status === 401
  if (pending) {
    return (
      <TopDialog label={t.signIn.againTitle}>
        <Stack>
          <Title order={2}>{t.signIn.againTitle}</Title>
          <SecondStep
            pending={pending}
            error={signIn.error}
            isBusy={signIn.isPending}
            onAnswer={signIn.mutate}
            onRestart={() => {
              setPending(undefined)
              signIn.reset()
            }}
          />
        </Stack>
      </TopDialog>
    )
  }
  return (
    <TopDialog label={t.signIn.againTitle}>
      <form onSubmit={submit}>
        <Stack>
          <Title order={2}>{t.signIn.againTitle}</Title>
          <Text size="sm">{t.signIn.again(email)}</Text>
          {signIn.error && !isWrong && (
            <Alert color="red" role="alert">
              {problemText(t, signIn.error)}
            </Alert>
          )}
          {/* Password managers need the user name next to the password. */}
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <PasswordField
            data-autofocus
            // Escape must not close a dialog of the page behind this one.
            data-mantine-stop-propagation="true"
            visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
            label={t.signIn.password}
            autoComplete="current-password"
            required
            value={password}
            error={isWrong ? t.signIn.wrongPassword : undefined}
            onChange={event => setPassword(event.currentTarget.value)}
          />
          <Group justify="space-between">
            <Anchor component="button" type="button" size="sm" underline="always" onClick={leave}>
              {t.signIn.otherUser}
            </Anchor>
            <Button type="submit" loading={signIn.isPending}>
              {t.signIn.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </TopDialog>
  )
}
