import { Button, Group } from '@mantine/core'

interface Props {
  text: string
  label: string
  onAct: () => void
}

/** A notification with one action, such as undo. */
export function ActionNotice({ text, label, onAct }: Props) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
      <Button size="compact-sm" variant="default" onClick={onAct} style={{ flex: 'none' }}>
        {label}
      </Button>
    </Group>
  )
}
