import { routes } from '@halyard/contract'
import { Alert, Button, Center, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCredentials, useServices } from '../services/services.ts'
import { useMe } from '../services/session-queries.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { Loaded, Loading, ProblemAlert } from '../ui/feedback/problems.tsx'
import { PasswordField } from '../ui/form/password-field.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { signInPath } from './sign-in-path.ts'

/** Accepts an invitation: with a new account, or with the signed-in one. */
export function SignUpPage() {
  const t = useMessages()
  const { call } = useServices()
  const { token } = useParams({ from: '/signup/$token' })
  const isSignedIn = useCredentials() !== undefined
  const invite = useQuery({
    queryKey: ['invite', token],
    queryFn: () => call(routes.session.readInvite, { params: { token } }),
    retry: false,
  })
  // Centered content moves when it grows, so it is rendered once complete.
  if (invite.isPending) {
    return (
      <Center mih="100dvh" component="main">
        <Loading />
      </Center>
    )
  }
  if (isProblem(invite.error) && invite.error.status === 404) {
    return (
      <AuthLayout>
        <Title order={1} ta="center" mb="md">
          {t.signUp.goneTitle}
        </Title>
        <Alert color="red" role="alert">
          {t.signUp.gone}
        </Alert>
        <Text ta="center" mt="md" size="sm">
          <a href={signInPath}>{t.signUp.toSignIn}</a>
        </Text>
      </AuthLayout>
    )
  }
  return (
    <AuthLayout>
      <Loaded query={invite}>
        {({ organization_name, target_email, first_name }) => (
          <>
            <Title order={1} ta="center" mb="xs">
              {t.signUp.title(organization_name)}
            </Title>
            <Text ta="center" c="dimmed" mb="lg">
              {t.signUp.intro(target_email)}
            </Text>
            <Paper withBorder p="lg" radius="lg">
              {isSignedIn ? <Join token={token} /> : <NewAccount token={token} firstName={first_name} />}
            </Paper>
          </>
        )}
      </Loaded>
    </AuthLayout>
  )
}

function NewAccount({ token, firstName }: { token: string; firstName: string }) {
  const t = useMessages()
  const { call, session } = useServices()
  const navigate = useNavigate()
  const [name, setName] = useState(firstName)
  const [password, setPassword] = useState('')
  const signUp = useMutation({
    mutationFn: () => call(routes.session.signup, { params: { token }, body: { first_name: name, password } }),
    onSuccess: async ({ api_key, expires_at }) => {
      session.begin({ key: api_key, expiresAt: expires_at })
      await navigate({ to: '/' })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signUp.mutate()
  }
  const atField = fieldProblem(t, signUp.error, 'first_name') ?? fieldProblem(t, signUp.error, 'password')
  return (
    <form onSubmit={submit}>
      <Stack>
        {!atField && <ProblemAlert error={signUp.error} />}
        <TextField
          label={t.signUp.firstName}
          autoComplete="name"
          required
          value={name}
          error={fieldProblem(t, signUp.error, 'first_name')}
          onChange={event => setName(event.currentTarget.value)}
        />
        <PasswordField
          visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
          label={t.signUp.password}
          description={t.signUp.passwordHint}
          autoComplete="new-password"
          required
          minLength={8}
          value={password}
          error={fieldProblem(t, signUp.error, 'password')}
          onChange={event => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={signUp.isPending}>
          {t.signUp.submit}
        </Button>
      </Stack>
    </form>
  )
}

function Join({ token }: { token: string }) {
  const t = useMessages()
  const { call } = useServices()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const me = useMe()
  const join = useMutation({
    mutationFn: () => call(routes.session.join, { params: { token } }),
    onSuccess: async () => {
      queries.clear()
      await navigate({ to: '/' })
    },
  })
  return (
    <Stack>
      <ProblemAlert error={join.error} />
      <Button onClick={() => join.mutate()} loading={join.isPending}>
        {t.signUp.join(me.data?.first_name ?? '')}
      </Button>
    </Stack>
  )
}
