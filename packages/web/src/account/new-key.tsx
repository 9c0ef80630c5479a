import { routes, scopeObjects } from '@halyard/contract'
import { Button, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { fieldProblem, ProblemAlert } from '../ui/feedback/problems.tsx'
import { FormRow } from '../ui/layout/form-row.tsx'

const dayMilliseconds = 24 * 60 * 60 * 1000
const allScopes = scopeObjects.flatMap(object => [`${object}:read`, `${object}:write`])

export function NewKey({ onCreated }: { onCreated: () => void }) {
  const t = useMessages()
  const call = useCall()
  const [label, setLabel] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [days, setDays] = useState('90')
  const create = useMutation({
    mutationFn: () =>
      call(routes.apiKeys.create, {
        body: {
          label,
          scopes: scopes.length === 0 ? ['*'] : scopes,
          expires_at: days === '' ? null : new Date(Date.now() + Number(days) * dayMilliseconds).toISOString(),
        },
      }),
    onSuccess: () => {
      setLabel('')
      onCreated()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const atField = fieldProblem(t, create.error, 'label')
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {!atField && <ProblemAlert error={create.error} />}
        <FormRow>
          <TextInput
            label={t.account.label}
            required
            withAsterisk={false}
            maxLength={40}
            value={label}
            error={atField}
            onChange={event => setLabel(event.currentTarget.value)}
          />
          <MultiSelect
            label={t.account.scopes}
            placeholder={scopes.length === 0 ? t.account.fullAccess : ''}
            data={allScopes}
            value={scopes}
            onChange={setScopes}
            searchable
            flex="1 1 220px"
            maw={420}
          />
          <NativeSelect
            label={t.account.expires}
            value={days}
            onChange={event => setDays(event.currentTarget.value)}
            data={[
              { value: '7', label: t.account.inDays(7) },
              { value: '90', label: t.account.inDays(90) },
              { value: '365', label: t.account.inDays(365) },
              { value: '', label: t.common.never },
            ]}
          />
          <Button type="submit" loading={create.isPending}>
            {t.account.create}
          </Button>
        </FormRow>
        {create.data?.value && <OneTimeSecret value={create.data.value} label={create.data.label} />}
      </Stack>
    </form>
  )
}
