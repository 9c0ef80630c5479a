import { Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

/** Warns that no event of the name was received, so that the condition may never be met. */
export function UnknownEvent() {
  const t = useMessages()
  return (
    <Text size="xs" c="var(--mantine-color-yellow-light-color)" role="status" span>
      {t.rollback.unknownEvent}
    </Text>
  )
}
