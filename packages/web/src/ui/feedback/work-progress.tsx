import { Button, Group, Progress, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

interface Props {
  done: number
  total: number
  onCancel: () => void
}

/** The progress of a long operation, with a cancel button. */
export function WorkProgress({ done, total, onCancel }: Props) {
  const t = useMessages()
  return (
    <Group wrap="nowrap" px="xs">
      <Progress
        value={total === 0 ? 0 : (100 * done) / total}
        flex={1}
        miw={120}
        aria-label={t.flags.bulkProgress(done, total)}
      />
      <Text size="sm" role="status">
        {t.flags.bulkProgress(done, total)}
      </Text>
      <Button size="xs" variant="default" onClick={onCancel}>
        {t.common.cancel}
      </Button>
    </Group>
  )
}
