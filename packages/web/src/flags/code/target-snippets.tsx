import { Anchor, NativeSelect, Stack, Tabs, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { CodeBlock } from './code-block.tsx'
import { type Snippet, type TargetName, targetNames } from './snippet.ts'

const storageName = 'halyard.snippet-target'

/** The snippet of one target, which stays chosen from flag to flag. */
export function TargetSnippets({ all, label }: { all: readonly Snippet[]; label: string }) {
  const t = useMessages()
  const [name, setName] = useState<TargetName>(
    () => targetNames.find(each => each === localStorage.getItem(storageName)) ?? 'Node.js',
  )
  const isNarrow = useMediaQuery('(max-width: 48em)')
  const choose = (next: string | null) => {
    const target = targetNames.find(each => each === next)
    if (!target) return
    localStorage.setItem(storageName, target)
    setName(target)
  }
  const chosen = all.find(each => each.name === name)
  const content = chosen && <TargetSnippet snippet={chosen} />
  if (isNarrow) {
    return (
      <Stack gap="sm">
        <NativeSelect
          label={t.code.target}
          value={name}
          onChange={event => choose(event.currentTarget.value)}
          data={all.map(each => each.name)}
        />
        {content}
      </Stack>
    )
  }
  return (
    <Tabs value={name} onChange={choose} variant="pills" keepMounted={false}>
      <Tabs.List mb="sm" aria-label={label}>
        {all.map(each => (
          <Tabs.Tab key={each.name} value={each.name}>
            {each.name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={name}>{content}</Tabs.Panel>
    </Tabs>
  )
}

function TargetSnippet({ snippet: { name, guide, install, syntax, code } }: { snippet: Snippet }) {
  const t = useMessages()
  return (
    <>
      {install && <CodeBlock code={install} syntax="shell" label={t.code.install(name)} />}
      <CodeBlock code={code} syntax={syntax} label={t.code.use(name)} />
      {guide && (
        <Text size="sm">
          <Anchor href={`/docs/quick-start/${guide}`} underline="always">
            {t.code.guide(name)}
          </Anchor>
        </Text>
      )}
    </>
  )
}
