import { Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { createdNotice, type TabProps } from '../flag-tabs.ts'
import { CodeReferences } from './code-references.tsx'
import { snippetFlag } from './snippet.ts'
import { snippets } from './snippets.ts'
import { TargetSnippets } from './target-snippets.tsx'

/** Snippets that evaluate this flag, with this server's URL and the project's token. */
export function CodeTab({ flag, project }: TabProps) {
  const t = useMessages()
  const { dismiss } = useNotify()
  useEffect(() => dismiss(createdNotice(flag.id)), [dismiss, flag.id])
  const all = snippets({
    flag: snippetFlag(flag, project.group_types),
    host: window.location.origin,
    token: project.api_token,
  })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.code.intro}
      </Text>
      <TargetSnippets all={all} label={t.tabs.code} />
      <CodeReferences projectId={String(project.id)} flagId={flag.id} />
    </Stack>
  )
}
