import { routes, type User } from '@halyard/contract'
import { NativeSelect, Stack, Switch, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { languageNames, languages } from '../i18n/choose-language.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useNotify } from '../ui/feedback/notify.ts'

/** Which emails the user gets, and in which language. */
export function Emails({ user }: { user: User }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const save = useMutation({
    mutationFn: (body: { change_request_emails?: boolean; language?: 'en' | 'de' }) =>
      call(routes.users.updateMe, { body }),
    onSuccess: me => {
      queries.setQueryData(['me'], me)
      notify.success({ message: t.editor.saved })
    },
    onError: error => notify.fail(error, t.account.emails),
  })
  const sent = save.isPending ? save.variables : {}
  return (
    <Stack maw={420} component="section" aria-label={t.account.emails}>
      <Title order={2}>{t.account.emails}</Title>
      <Switch
        label={t.account.requestEmails}
        description={t.account.requestEmailsHint}
        checked={sent.change_request_emails ?? user.change_request_emails}
        onChange={event => save.mutate({ change_request_emails: event.currentTarget.checked })}
      />
      <NativeSelect
        label={t.account.emailLanguage}
        value={sent.language ?? user.language ?? 'en'}
        data={languages.map(language => ({ value: language, label: languageNames[language] }))}
        onChange={event => {
          const language = languages.find(each => each === event.currentTarget.value)
          if (language) save.mutate({ language })
        }}
      />
    </Stack>
  )
}
