import type { FlagSummary } from '@halyard/contract'
import { Badge, Checkbox, Switch, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { memo, type ReactNode } from 'react'
import { useFormats, useMessages } from '../../../i18n/language.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { StarIcon } from '../../../ui/icons.tsx'
import { describeState } from '../../flag-summary.ts'
import { tagsOf } from '../flag-search.ts'
import { type ColumnName, columns } from './columns.ts'
import { FlagBadges } from './flag-badges.tsx'
import classes from './flag-list.module.css'
import { Sparkline } from './sparkline.tsx'
import type { FlagUsage } from './use-flag-usage.ts'

interface Props {
  projectId: string
  flag: FlagSummary
  usage: FlagUsage | undefined
  shownColumns: readonly ColumnName[]
  groupTypes: Readonly<Record<string, string>>
  index: number
  top: number
  isSelected: boolean
  onSelect: (flag: FlagSummary) => void
  onToggle: (flag: FlagSummary) => void
  isFavorite: boolean
  nextChange: string | undefined
}

const tagsShownMax = 2
const noChecks: readonly never[] = []

export const FlagRow = memo(function FlagRow({
  projectId,
  flag,
  usage,
  shownColumns,
  groupTypes,
  index,
  top,
  isSelected,
  onSelect,
  onToggle,
  isFavorite,
  nextChange,
}: Props) {
  const t = useMessages()
  const { percent } = useFormats()
  const state = describeState(flag, { t, percent, groupTypes })
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      data-selected={isSelected || undefined}
      className={classes.row}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell">
        <Checkbox
          size="xs"
          aria-label={t.flags.selectFlag(flag.key)}
          checked={isSelected}
          onChange={() => onSelect(flag)}
        />
      </span>
      <span role="rowheader" className={classes.flag}>
        <Title projectId={projectId} flag={flag} isFavorite={isFavorite}>
          <FlagBadges nextChange={nextChange} checks={usage?.checks ?? noChecks} />
        </Title>
        <span className={classes.state}>
          <span className={classes.dot} data-color={state.color} aria-hidden="true" />
          {state.text}
        </span>
      </span>
      {shownColumns.map(name => (
        <span
          key={name}
          role="cell"
          data-column={name}
          className={`${classes.cell} ${columns[name].isNarrow ? classes.medium : classes.wide}`}
          title={fullText(name, flag)}
        >
          <Cell name={name} flag={flag} usage={usage} />
        </span>
      ))}
      <span role="cell">
        <RowSwitch flag={flag} onToggle={onToggle} />
      </span>
    </div>
  )
})

interface TitleProps extends Pick<Props, 'projectId' | 'flag' | 'isFavorite'> {
  /** Badges between the key and the name. */
  children: ReactNode
}

function Title({ projectId, flag, isFavorite, children }: TitleProps) {
  const t = useMessages()
  return (
    <span className={classes.title}>
      <Link
        to="/project/$projectId/flags/$flagId"
        params={{ projectId, flagId: String(flag.id) }}
        className={classes.key as string}
        title={flag.key}
      >
        {flag.key}
      </Link>
      {isFavorite && (
        <span role="img" aria-label={t.views.favorite} className={classes.star}>
          <StarIcon size={14} isFilled />
        </span>
      )}
      {children}
      {flag.name !== '' && (
        <span className={classes.name} title={flag.name}>
          {flag.name}
        </span>
      )}
    </span>
  )
}

/** A badge where the user cannot switch the flag. */
function RowSwitch({ flag, onToggle }: Pick<Props, 'flag' | 'onToggle'>) {
  const t = useMessages()
  return flag.can_edit && !flag.deleted ? (
    <Switch
      size="sm"
      color="green"
      aria-label={t.flags.toggle(flag.key)}
      checked={flag.active}
      onChange={() => onToggle(flag)}
    />
  ) : (
    <Badge
      variant="light"
      color={flag.active && !flag.deleted ? 'green' : 'gray'}
      size="sm"
      title={flag.deleted ? t.flags.deletedHint : t.flags.readOnly}
    >
      {flag.active && !flag.deleted ? t.flags.stateOn : t.flags.stateOff}
    </Badge>
  )
}

/** The whole text of a cell that may not fit. */
function fullText(name: ColumnName, flag: FlagSummary): string | undefined {
  if (name === 'owner') return creatorOf(flag)
  return name === 'tags' && tagsOf(flag).length > 0 ? tagsOf(flag).join(', ') : undefined
}

const creatorOf = ({ created_by }: FlagSummary): string => created_by.first_name || created_by.email

function Cell({ name, flag, usage }: { name: ColumnName; flag: FlagSummary; usage: FlagUsage | undefined }): ReactNode {
  const t = useMessages()
  const { day, count } = useFormats()
  switch (name) {
    case 'tags': {
      const tags = tagsOf(flag)
      return (
        <>
          {tags.slice(0, tagsShownMax).map(tag => (
            <Badge key={tag} variant="light" color="gray" size="sm" radius="sm">
              {tag}
            </Badge>
          ))}
          {tags.length > tagsShownMax && (
            <Text span size="xs" c="dimmed">
              +{tags.length - tagsShownMax}
            </Text>
          )}
        </>
      )
    }
    case 'owner':
      return <span className={classes.person}>{creatorOf(flag)}</span>
    case 'created':
      return day(flag.created_at)
    case 'updated':
      return <RelativeTime instant={flag.updated_at} />
    case 'called':
      if (!usage) return null
      return usage.last_called_at === null ? t.flags.neverCalled : <RelativeTime instant={usage.last_called_at} />
    case 'usage': {
      if (!usage) return null
      const total = usage.calls.reduce((sum, calls) => sum + calls, 0)
      return <Sparkline values={usage.calls} label={t.flags.callsLately(count(total), usage.calls.length)} />
    }
  }
}

/** Keeps the place of a row until it is loaded. */
export function LoadingRow({ index, top, label }: { index: number; top: number; label: string }) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-busy="true"
      className={classes.row}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell" />
      <span role="cell" className={classes.state}>
        {label}
      </span>
    </div>
  )
}
