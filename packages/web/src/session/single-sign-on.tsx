import { routes } from '@halyard/contract'
import { Alert, Button, Divider, Stack } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Call } from '../api/client.ts'
import { useMessages } from '../i18n/language.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'

interface LoginProvider {
  readonly id: string
  readonly name: string
}

/** Offers the providers of the organization in the address, or of the domain of the email address. */
export function SingleSignOn({ call, email }: { call: Call; email: string }) {
  const t = useMessages()
  const [providers, setProviders] = useState<readonly LoginProvider[]>([])
  const [error, setError] = useState<string>()
  const [isBusy, setIsBusy] = useState(false)
  const search = new URLSearchParams(window.location.search)
  const organization = search.get('organization')

  async function attempt(work: () => Promise<unknown>) {
    setIsBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (problem) {
      setError(problemText(t, problem))
    }
    setIsBusy(false)
  }
  async function open({ id }: LoginProvider) {
    const next = search.get('next')
    const params = { provider_id: id }
    const { redirect_url } = await call(routes.singleSignOn.start, { params, body: next ? { next } : {} })
    window.location.assign(redirect_url)
  }
  async function find() {
    // Only the domain is sent: the response cannot depend on the account.
    const domain = email.slice(email.lastIndexOf('@') + 1).trim()
    if (!email.includes('@') || domain === '') return setError(t.signIn.ssoEmailFirst)
    const offered = await call(routes.singleSignOn.listProviders, { query: { domain } })
    const [only, second] = offered
    setProviders(offered)
    if (!only) setError(t.signIn.ssoNone(domain))
    else if (!second) await open(only)
  }
  useEffect(() => {
    if (!organization) return
    call(routes.singleSignOn.listProviders, { query: { organization } }).then(setProviders, () => {})
  }, [call, organization])

  return (
    <Stack mt="md" gap="sm">
      <Divider label={t.signIn.or} />
      {error && (
        <Alert color="red" role="alert">
          {error}
        </Alert>
      )}
      {providers.map(provider => (
        <Button
          key={provider.id}
          variant="default"
          fullWidth
          loading={isBusy}
          onClick={() => attempt(() => open(provider))}
        >
          {t.signIn.ssoWith(provider.name)}
        </Button>
      ))}
      {providers.length === 0 && (
        <Button variant="default" fullWidth loading={isBusy} onClick={() => attempt(find)}>
          {t.signIn.sso}
        </Button>
      )}
    </Stack>
  )
}
