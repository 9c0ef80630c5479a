import type { Flag } from '@halyard/contract'
import { Checkbox } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useEffect, useRef } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import classes from './flag-list.module.css'
import { FlagRow } from './flag-row.tsx'
import type { FlagNotices } from './use-flag-notices.ts'

interface Props {
  projectId: string
  flags: readonly Flag[]
  groupTypes: Readonly<Record<string, string>>
  selected: ReadonlySet<number>
  onSelect: (flag: Flag) => void
  onSelectAll: (isOn: boolean) => void
  onToggle: (flag: Flag) => void
  notices: FlagNotices
  /** The row with the keyboard cursor, or -1. */
  cursor: number
}

const rowPixels = 60
/** The breakpoint at which the summary wraps; must match the style sheet. */
const narrowRowPixels = 76
const narrow = '(width < 48em)'

/** Virtualized: only visible rows are rendered. */
export function FlagList({ flags, cursor, selected, onSelectAll, ...rest }: Props) {
  const t = useMessages()
  const scroller = useRef<HTMLDivElement>(null)
  const isNarrow = useMediaQuery(narrow, undefined, { getInitialValueInEffect: false })
  const rows = useVirtualizer({
    count: flags.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? narrowRowPixels : rowPixels),
    overscan: 12,
    getItemKey: index => flags[index]?.id ?? index,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured holds for one width.
  useEffect(() => rows.measure(), [isNarrow])
  useEffect(() => {
    if (cursor < 0) return
    rows.scrollToIndex(cursor)
    // The row may not exist until the scroll position has been rendered.
    const frame = requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${cursor}"] a`)?.focus(),
    )
    return () => cancelAnimationFrame(frame)
  }, [cursor, rows])

  const isAll = flags.length > 0 && flags.every(flag => selected.has(flag.id))
  return (
    <div className={classes.list} role="table" aria-label={t.flags.title} aria-rowcount={flags.length + 1}>
      <div role="rowgroup" className={classes.headGroup}>
        <div role="row" aria-rowindex={1} className={classes.head}>
          <span role="columnheader">
            <Checkbox
              size="xs"
              aria-label={t.flags.selectAll}
              checked={isAll}
              indeterminate={!isAll && selected.size > 0}
              onChange={event => onSelectAll(event.currentTarget.checked)}
            />
          </span>
          <span role="columnheader">{t.flags.columnFlag}</span>
          <span role="columnheader" className={classes.tags}>
            {t.flags.columnTags}
          </span>
          <span role="columnheader" className={classes.owner}>
            {t.flags.columnOwner}
          </span>
          <span role="columnheader" className={classes.created}>
            {t.flags.columnCreated}
          </span>
          <span role="columnheader">{t.flags.columnSwitch}</span>
        </div>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="rowgroup"
        tabIndex={-1}
        style={{ '--rows': `${rows.getTotalSize()}px` } as CSSProperties}
      >
        <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
          {rows.getVirtualItems().map(({ index, start, key }) => (
            <FlagRow
              key={key}
              {...rest}
              index={index}
              top={start}
              flag={flags[index] as Flag}
              isSelected={selected.has((flags[index] as Flag).id)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}
