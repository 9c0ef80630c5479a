import { Button, Code, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'

/** Replaces the list when the project has no flags, or none match the filters. */
export function NoFlags(props: { isFiltered: boolean; onClear: () => void; onCreate: () => void }) {
  const t = useMessages()
  if (!props.isFiltered) {
    return (
      <EmptyState title={t.flags.emptyTitle} text={t.flags.emptyText}>
        <Button onClick={props.onCreate}>{t.flags.create}</Button>
        <Text ta="center" c="dimmed" size="xs" mt="md">
          {t.flags.emptyDemo}
        </Text>
        <Code>npm run halyard -- demo</Code>
      </EmptyState>
    )
  }
  return (
    <EmptyState title={t.flags.noMatches} text={t.flags.noMatchesText}>
      <Button variant="default" onClick={props.onClear}>
        {t.flags.clearFilters}
      </Button>
    </EmptyState>
  )
}
