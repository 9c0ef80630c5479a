import { ActionIcon, Code, CopyButton, Stack, Tabs, Text, Tooltip } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { Copied } from '../../ui/data/copy-button.tsx'
import { CheckIcon, CopyIcon } from '../../ui/icons.tsx'
import type { TabProps } from '../flag-tabs.ts'
import classes from './code-tab.module.css'
import { snippets } from './snippets.ts'

/** Snippets that evaluate this flag, with this server's URL and the project's token. */
export function CodeTab({ flag, project }: TabProps) {
  const t = useMessages()
  const all = snippets({ flag, host: window.location.origin, token: project.api_token })
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t.code.intro}
      </Text>
      <Tabs defaultValue={all[0]?.name ?? null} variant="pills">
        <Tabs.List mb="sm" aria-label={t.tabs.code}>
          {all.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {all.map(({ name, install, code }) => (
          <Tabs.Panel key={name} value={name}>
            {install && <Snippet code={install} label={t.code.install(name)} />}
            <Snippet code={code} label={t.code.use(name)} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

function Snippet({ code, label }: { code: string; label: string }) {
  const t = useMessages()
  return (
    <div className={classes.snippet} data-long={code.includes('\n') || undefined}>
      <Code block tabIndex={0} role="group" aria-label={label}>
        {code}
      </Code>
      <CopyButton value={code}>
        {({ copied, copy }) => (
          <>
            <Tooltip label={copied ? t.common.copied : t.common.copy}>
              <ActionIcon
                className={classes.copy as string}
                variant="default"
                onClick={copy}
                aria-label={`${copied ? t.common.copied : t.common.copy}: ${label}`}
              >
                {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
              </ActionIcon>
            </Tooltip>
            <Copied isCopied={copied} />
          </>
        )}
      </CopyButton>
    </div>
  )
}
