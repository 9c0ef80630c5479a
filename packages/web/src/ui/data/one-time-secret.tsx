import { Alert, Code, Group, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { CopyTextButton } from './copy-button.tsx'

/** A secret, shown once after it was created. */
export function OneTimeSecret({ value, label }: { value: string; label: string }) {
  const t = useMessages()
  return (
    <Alert color="green" role="alert" title={label}>
      <Text size="sm" mb="xs">
        {t.secrets.once}
      </Text>
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
        <CopyTextButton value={value} of={label} />
      </Group>
    </Alert>
  )
}
