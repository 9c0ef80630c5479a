import { Alert, Button, Code, CopyButton, Group, Text } from '@mantine/core'
import { useMessages } from '../messages/language.tsx'

/** A secret at the only moment when it can be read. */
export function ShownOnce({ value, label }: { value: string; label: string }) {
  const t = useMessages()
  return (
    <Alert color="green" role="alert" title={label}>
      <Text size="sm" mb="xs">
        {t.secrets.once}
      </Text>
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Button size="compact-sm" variant="default" onClick={copy}>
              {copied ? t.common.copied : t.common.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  )
}
