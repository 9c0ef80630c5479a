import type { FlagSummary } from '@halyard/contract'
import { Checkbox, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useEffect, useRef } from 'react'
import type { Messages } from '../../../i18n/en.ts'
import { useMessages } from '../../../i18n/language.tsx'
import { ChevronIcon } from '../../../ui/icons.tsx'
import { useFavorites } from '../../favorites.ts'
import type { FlagRows } from '../flag-rows.ts'
import { type FlagSort, nextSort, readSort, type SortField } from '../flag-search.ts'
import type { NextChanges } from '../use-next-changes.ts'
import { type ColumnName, columns, gridTracks } from './columns.ts'
import classes from './flag-list.module.css'
import { FlagRow, LoadingRow } from './flag-row.tsx'
import { useFlagUsage } from './use-flag-usage.ts'

interface Props {
  projectId: string
  rows: FlagRows
  shownColumns: readonly ColumnName[]
  sort: FlagSort | undefined
  onSort: (sort: FlagSort) => void
  groupTypes: Readonly<Record<string, string>>
  selected: ReadonlyMap<number, FlagSummary>
  onSelect: (flag: FlagSummary) => void
  onSelectAll: (isOn: boolean) => void
  onToggle: (flag: FlagSummary) => void
  nextChanges: NextChanges
  /** The row with the keyboard cursor, or -1. */
  cursor: number
}

const rowPixels = 60
/** The breakpoint at which the summary wraps; must match the style sheet. */
const narrowRowPixels = 76
const narrow = '(width < 48em)'

export const columnLabel = (t: Messages, name: ColumnName): string =>
  ({
    tags: t.flags.columnTags,
    owner: t.flags.columnOwner,
    created: t.flags.columnCreated,
    updated: t.flags.columnUpdated,
    called: t.flags.columnCalled,
    usage: t.flags.columnUsage,
  })[name]

/** Virtualized: only visible rows are rendered, and in a long list only they are loaded. */
export function FlagList({
  rows,
  cursor,
  selected,
  onSelectAll,
  shownColumns,
  sort,
  onSort,
  nextChanges,
  ...rest
}: Props) {
  const t = useMessages()
  const scroller = useRef<HTMLDivElement>(null)
  const isNarrow = useMediaQuery(narrow, undefined, { getInitialValueInEffect: false })
  const list = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? narrowRowPixels : rowPixels),
    overscan: 6,
    // Rows are rendered at once, not only after the list has been measured.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    getItemKey: index => rows.at(index)?.id ?? `row ${index}`,
  })
  // What was measured holds for one width.
  useAfterChange(isNarrow, () => list.measure())
  useEffect(() => {
    if (cursor < 0) return
    list.scrollToIndex(cursor)
    // The row may not exist until the scroll position has been rendered.
    const frame = requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${cursor}"] a`)?.focus(),
    )
    return () => cancelAnimationFrame(frame)
  }, [cursor, list])
  const items = list.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  const { load, search } = rows
  useEffect(() => load(first, last), [load, first, last])
  useAfterChange(search, () => list.scrollToOffset(0))
  const favorites = useFavorites(rest.projectId)
  const usageOf = useFlagUsage(rest.projectId, rows, { first, last })

  const isAll =
    rows.count > 0 && selected.size >= rows.count && items.every(({ index }) => isIn(selected, rows.at(index)))
  const tracks = gridTracks(shownColumns)
  return (
    <div
      className={classes.list}
      role="table"
      aria-label={t.flags.title}
      aria-rowcount={rows.count + 1}
      style={{ '--wide-columns': tracks.wide, '--medium-columns': tracks.medium } as CSSProperties}
    >
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
          <Header field="key" sort={sort} onSort={onSort}>
            {t.flags.columnFlag}
          </Header>
          {shownColumns.map(name => (
            <Header
              key={name}
              field={columns[name].sort}
              sort={sort}
              onSort={onSort}
              className={columns[name].isNarrow ? classes.medium : classes.wide}
            >
              {columnLabel(t, name)}
            </Header>
          ))}
          <Header field="state" sort={sort} onSort={onSort}>
            {t.flags.columnSwitch}
          </Header>
        </div>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="rowgroup"
        tabIndex={-1}
        style={{ '--rows': `${list.getTotalSize()}px` } as CSSProperties}
      >
        <div style={{ height: list.getTotalSize(), position: 'relative' }} role="presentation">
          {items.map(({ index, start, key }) => {
            const flag = rows.at(index)
            if (!flag) return <LoadingRow key={key} index={index} top={start} label={t.common.loading} />
            return (
              <FlagRow
                key={key}
                {...rest}
                shownColumns={shownColumns}
                index={index}
                top={start}
                flag={flag}
                usage={usageOf(flag.id)}
                isFavorite={favorites.has(flag.id)}
                nextChange={nextChanges.get(flag.id)}
                isSelected={selected.has(flag.id)}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** Not after the first render, where it would only repeat the layout. */
function useAfterChange<T>(value: T, act: () => void): void {
  const last = useRef(value)
  useEffect(() => {
    if (last.current === value) return
    last.current = value
    act()
  })
}

const isIn = (selected: ReadonlyMap<number, FlagSummary>, flag: FlagSummary | undefined): boolean =>
  flag === undefined || selected.has(flag.id)

interface HeaderProps {
  field: SortField | undefined
  sort: FlagSort | undefined
  onSort: (sort: FlagSort) => void
  className?: string | undefined
  children: ReactNode
}

/** Sorts by its column when pressed, and the other way round when pressed again. */
function Header({ field, sort, onSort, className, children }: HeaderProps) {
  if (field === undefined) {
    return (
      <span role="columnheader" className={className}>
        {children}
      </span>
    )
  }
  const current = readSort(sort)
  const direction = current.field !== field ? 'none' : current.isDescending ? 'descending' : 'ascending'
  return (
    <span role="columnheader" aria-sort={direction} className={className}>
      <UnstyledButton className={classes.sort as string} onClick={() => onSort(nextSort(sort, field))}>
        {children}
        {direction !== 'none' && (
          <span className={classes.arrow} data-direction={direction}>
            <ChevronIcon size={12} />
          </span>
        )}
      </UnstyledButton>
    </span>
  )
}
