import { Anchor, Button, Code, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'

/** Replaces the list when the project has no flags, or none match the filters. */
export function NoFlags(props: {
  projectId: string
  isFiltered: boolean
  onClear: () => void
  /** Absent for those who cannot create flags. */
  onCreate: (() => void) | undefined
}) {
  const t = useMessages()
  if (!props.isFiltered) {
    return (
      <EmptyState title={t.flags.emptyTitle} text={t.flags.emptyText}>
        {props.onCreate && <Button onClick={props.onCreate}>{t.flags.create}</Button>}
        <Anchor component={Link} to={`/project/${props.projectId}/setup`} size="sm" underline="always">
          {t.setup.title}
        </Anchor>
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
