import { Button, Group, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

export function Pagination(props: {
  count: number
  offset: number
  pageSize: number
  onChange: (offset: number) => void
}) {
  const t = useMessages()
  const { count, offset, pageSize } = props
  if (count <= pageSize) return null
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {t.pagination.range(offset + 1, Math.min(count, offset + pageSize), count)}
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={offset === 0}
          onClick={() => props.onChange(Math.max(0, offset - pageSize))}
        >
          {t.pagination.previous}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={offset + pageSize >= count}
          onClick={() => props.onChange(offset + pageSize)}
        >
          {t.pagination.next}
        </Button>
      </Group>
    </Group>
  )
}
