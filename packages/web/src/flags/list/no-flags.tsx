import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { FlagIcon } from '../../ui/icons.tsx'

interface Props {
  projectId: string
  isFiltered: boolean
  onClear: () => void
  /** Absent for those who cannot create flags. */
  onCreate: (() => void) | undefined
}

/** Replaces the list when the project has no flags, or none match the filters. */
export function NoFlags({ projectId, isFiltered, onClear, onCreate }: Props) {
  const t = useMessages()
  if (isFiltered) {
    return (
      <EmptyState Icon={FlagIcon} title={t.flags.noMatches} text={t.flags.noMatchesText}>
        <Button variant="default" onClick={onClear}>
          {t.flags.clearFilters}
        </Button>
      </EmptyState>
    )
  }
  if (!onCreate) return <EmptyState Icon={FlagIcon} title={t.flags.emptyTitle} text={t.flags.emptyReadOnly} />
  return (
    <EmptyState Icon={FlagIcon} title={t.flags.emptyTitle} text={t.flags.emptyText}>
      <Button onClick={onCreate}>{t.flags.create}</Button>
      <Anchor
        size="sm"
        underline="always"
        renderRoot={props => <Link {...props} to="/project/$projectId" params={{ projectId }} />}
      >
        {t.home.otherStarts}
      </Anchor>
    </EmptyState>
  )
}
