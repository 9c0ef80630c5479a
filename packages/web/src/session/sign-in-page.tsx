import { routes } from '@halyard/contract'
import { Accordion, Alert, Button, Code, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCredentials, useServices } from '../services/services.ts'
import { problemText } from '../ui/feedback/problems.tsx'
import { AuthLayout } from './auth-layout.tsx'

export function SignInPage() {
  const t = useMessages()
  const { call, session } = useServices()
  const { next } = useSearch({ from: '/login' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    document.title = `${t.signIn.title} · Halyard`
  }, [t])

  // A user who is already signed in, here or just now in another tab, is redirected.
  const isSignedIn = useCredentials() !== undefined
  useEffect(() => {
    if (isSignedIn) navigate({ to: localPath(next), replace: true })
  }, [isSignedIn, next, navigate])

  const signIn = useMutation({
    mutationFn: () => call(routes.session.login, { body: { email, password } }),
    onSuccess: ({ api_key, expires_at }) => {
      queries.clear()
      session.begin({ key: api_key, expiresAt: expires_at })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  const isWrong = isProblem(signIn.error) && signIn.error.status === 401
  const message = isWrong ? t.signIn.wrong : signIn.error && problemText(t, signIn.error)

  return (
    <AuthLayout>
      <Title order={1} ta="center" mb="lg">
        {t.signIn.title}
      </Title>
      {session.endedBecause() === 'expired' && !signIn.error && (
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
            <TextInput
              label={t.signIn.email}
              type="email"
              autoComplete="username"
              required
              withAsterisk={false}
              ref={field}
              value={email}
              onChange={event => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
              label={t.signIn.password}
              autoComplete="current-password"
              required
              withAsterisk={false}
              value={password}
              onChange={event => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" fullWidth loading={signIn.isPending}>
              {t.signIn.submit}
            </Button>
          </Stack>
        </form>
      </Paper>
      <Accordion mt="sm" chevronPosition="left" variant="default">
        <Accordion.Item value="first" bd={0}>
          <Accordion.Control fz="sm">{t.signIn.firstOwnerTitle}</Accordion.Control>
          <Accordion.Panel>
            <Text size="sm" mb="xs">
              {t.signIn.firstOwner}
            </Text>
            <Code block style={{ whiteSpace: 'pre-wrap' }}>
              {t.signIn.resetCommand}
            </Code>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </AuthLayout>
  )
}

/** Only a local path is followed; anything else would be an open redirect. */
const localPath = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/')
