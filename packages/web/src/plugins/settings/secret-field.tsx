import { Button, Group, Input, PasswordInput, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { InlineMarkdown } from '../../ui/data/inline-markdown.tsx'
import type { Setting } from './setting-rules.ts'

/** A stored secret is never sent to the browser, only that it exists. */
export type SecretValue = { readonly kind: 'stored' } | { readonly kind: 'new'; readonly text: string }

interface Props {
  setting: Setting
  isNeeded: boolean
  /** Whether the server has a value. */
  isStored: boolean
  value: SecretValue
  error: string | undefined
  onChange: (value: SecretValue) => void
}

export function SecretField({ setting, isNeeded, isStored, value, error, onChange }: Props) {
  const t = useMessages()
  const described = { label: setting.label, required: isNeeded, withAsterisk: isNeeded, error }
  if (value.kind === 'stored') {
    return (
      <Input.Wrapper {...described} labelElement="div" description={<InlineMarkdown text={setting.hint} />}>
        <Group gap="xs" mt={4}>
          <Text size="sm">{t.plugins.secretStored}</Text>
          <Button variant="default" size="xs" onClick={() => onChange({ kind: 'new', text: '' })}>
            {t.plugins.replaceSecret(setting.label)}
          </Button>
        </Group>
      </Input.Wrapper>
    )
  }
  return (
    <div>
      <PasswordInput
        {...described}
        description={
          <>
            <InlineMarkdown text={setting.hint} /> {t.plugins.secretHint}
          </>
        }
        autoComplete="off"
        autoFocus={isStored}
        visibilityToggleButtonProps={{ 'aria-label': t.plugins.showSecret }}
        value={value.text}
        onChange={event => onChange({ kind: 'new', text: event.currentTarget.value })}
      />
      {isStored && (
        <Button variant="subtle" color="gray" size="compact-xs" mt={4} onClick={() => onChange({ kind: 'stored' })}>
          {t.plugins.keepSecret(setting.label)}
        </Button>
      )}
    </div>
  )
}
