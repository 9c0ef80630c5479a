import { routes, type WebhookEvent, webhookEvents } from '@halyard/contract'
import { Button, MultiSelect, NativeSelect, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { unlessEdited } from '../ui/form/unless-edited.ts'
import { FormRow } from '../ui/layout/form-row.tsx'

type Format = 'json' | 'slack' | 'teams' | 'discord'
const formats: { value: Format; label: string }[] = [
  { value: 'json', label: 'JSON' },
  { value: 'slack', label: 'Slack' },
  { value: 'teams', label: 'Microsoft Teams' },
  { value: 'discord', label: 'Discord' },
]
const blank = { name: '', url: '', format: 'json' as Format, events: [] as WebhookEvent[], tag: '' }

export function NewWebhook({ projectId }: { projectId: string }) {
  const t = useMessages()
  const [draft, setDraft] = useState(blank)
  const set = (change: Partial<typeof blank>) => setDraft(old => ({ ...old, ...change }))
  const create = useCreateWebhook(projectId, submitted => setDraft(unlessEdited(submitted, blank)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(draft)
  }
  const [atName, atUrl] = [fieldProblem(t, create.error, 'name'), fieldProblem(t, create.error, 'url')]
  return (
    <Stack>
      <form onSubmit={submit}>
        {!atName && !atUrl && <ProblemAlert error={create.error} />}
        <Stack gap="sm">
          <FormRow>
            <TextField
              label={t.webhooks.name}
              required
              maxLength={200}
              value={draft.name}
              error={atName}
              onChange={event => set({ name: event.currentTarget.value })}
            />
            <TextField
              label={t.webhooks.url}
              type="url"
              required
              maxLength={2000}
              placeholder="https://"
              value={draft.url}
              error={atUrl}
              onChange={event => set({ url: event.currentTarget.value })}
              flex="2 1 240px"
            />
            <NativeSelect
              label={t.webhooks.format}
              data={formats}
              value={draft.format}
              onChange={event => set({ format: event.currentTarget.value as Format })}
            />
          </FormRow>
          <FormRow>
            <MultiSelect
              label={t.webhooks.events}
              placeholder={draft.events.length === 0 ? t.webhooks.allEvents : ''}
              data={[...webhookEvents]}
              value={draft.events}
              onChange={events => set({ events: events as WebhookEvent[] })}
              clearable
              flex="2 1 240px"
            />
            <TextField
              label={t.webhooks.tag}
              maxLength={255}
              value={draft.tag}
              onChange={event => set({ tag: event.currentTarget.value })}
            />
            <Button type="submit" loading={create.isPending}>
              {t.webhooks.add}
            </Button>
          </FormRow>
        </Stack>
      </form>
      {create.data && <OneTimeSecret value={create.data.secret} label={t.webhooks.secretOf(create.data.name)} />}
    </Stack>
  )
}

function useCreateWebhook(projectId: string, onCreated: (submitted: typeof blank) => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  return useMutation({
    mutationFn: ({ tag, ...fields }: typeof blank) =>
      call(routes.webhooks.create, {
        params: { project_id: projectId },
        body: { ...fields, ...(tag !== '' && { tag }) },
      }),
    onSuccess: ({ name }, submitted) => {
      onCreated(submitted)
      notify.success({ message: t.webhooks.created(name) })
      return queries.invalidateQueries({ queryKey: ['webhooks', projectId] })
    },
  })
}
