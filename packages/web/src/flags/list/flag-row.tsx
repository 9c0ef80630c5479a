import type { Flag } from '@halyard/contract'
import { Badge, Checkbox, Switch, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { describeState } from '../flag-summary.ts'
import { FlagBadges } from './flag-badges.tsx'
import classes from './flag-list.module.css'
import { tagsOf } from './flag-search.ts'
import type { FlagNotices } from './use-flag-notices.ts'

interface Props {
  projectId: string
  flag: Flag
  groupTypes: Readonly<Record<string, string>>
  index: number
  top: number
  isSelected: boolean
  onSelect: (flag: Flag) => void
  onToggle: (flag: Flag) => void
  notices: FlagNotices
}

const tagsShownMax = 3

export const FlagRow = memo(function FlagRow({
  projectId,
  flag,
  groupTypes,
  index,
  top,
  isSelected,
  onSelect,
  onToggle,
  notices,
}: Props) {
  const t = useMessages()
  const { percent, day } = useFormats()
  const state = describeState(flag, { t, percent, groupTypes })
  const tags = tagsOf(flag)
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
        <span className={classes.title}>
          <Link
            to="/project/$projectId/flags/$flagId"
            params={{ projectId, flagId: String(flag.id) }}
            className={classes.key as string}
          >
            {flag.key}
          </Link>
          <FlagBadges flagId={flag.id} notices={notices} />
          {flag.name !== '' && <span className={classes.name}>{flag.name}</span>}
        </span>
        <span className={classes.state}>
          <span className={classes.dot} data-color={state.color} aria-hidden="true" />
          {state.text}
        </span>
      </span>
      <span role="cell" className={classes.tags}>
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
      </span>
      <span role="cell" className={classes.owner}>
        {flag.created_by.first_name || flag.created_by.email}
      </span>
      <span role="cell" className={classes.created}>
        {day(flag.created_at)}
      </span>
      <span role="cell">
        {flag.can_edit && !flag.deleted ? (
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
        )}
      </span>
    </div>
  )
})
