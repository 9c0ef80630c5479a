import { Button, Group } from '@mantine/core'
import { useMessages } from '../messages/language.tsx'

/** What was done, with a way back. */
export function UndoNotice({ text, onUndo }: { text: string; onUndo: () => void }) {
  const t = useMessages()
  return (
    <Group justify="space-between" wrap="nowrap">
      <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
      <Button size="compact-sm" variant="default" onClick={onUndo}>
        {t.common.undo}
      </Button>
    </Group>
  )
}
