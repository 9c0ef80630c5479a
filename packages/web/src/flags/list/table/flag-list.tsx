import type { FlagSummary } from '@halyard/contract'
import { Checkbox, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
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
import { useVisibleRows } from './use-visible-rows.ts'

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

/** The heights of rows, of what is around the list, and the breakpoint at which the summary wraps are those of the style sheet. */
const wideRowPixels = 60
const narrowRowPixels = 76
const aroundPixels = 232
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
  const rowPixels = isNarrow ? narrowRowPixels : wideRowPixels
  const { first, last, scrollTo } = useVisibleRows(scroller, {
    count: rows.count,
    rowPixels,
    heightPixels: window.innerHeight - aroundPixels,
  })
  useEffect(() => {
    if (cursor < 0) return
    scrollTo(cursor)
    // The row may not exist until the scroll position has been rendered.
    const frame = requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${cursor}"] a`)?.focus(),
    )
    return () => cancelAnimationFrame(frame)
  }, [cursor, scrollTo])
  const { load, search } = rows
  useEffect(() => load(first, last), [load, first, last])
  useAfterChange(search, () => scroller.current?.scrollTo(0, 0))
  const favorites = useFavorites(rest.projectId)
  const usageOf = useFlagUsage(rest.projectId, rows, { first, last })

  const indexes = Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const isAll = rows.count > 0 && selected.size >= rows.count && indexes.every(index => isIn(selected, rows.at(index)))
  const totalPixels = rows.count * rowPixels
  const tracks = gridTracks(shownColumns)
  return (
    <div
      className={classes.list}
      role="table"
      aria-label={t.flags.title}
      aria-rowcount={rows.count + 1}
      style={{ '--wide-columns': tracks.wide, '--medium-columns': tracks.medium } as CSSProperties}
    >
      <ListHead
        shownColumns={shownColumns}
        sort={sort}
        onSort={onSort}
        isAll={isAll}
        isSome={selected.size > 0}
        onSelectAll={onSelectAll}
      />
      <div
        ref={scroller}
        className={classes.scroller}
        role="rowgroup"
        tabIndex={-1}
        style={{ '--rows': `${totalPixels}px` } as CSSProperties}
      >
        <div style={{ height: totalPixels, position: 'relative' }} role="presentation">
          {indexes.map(index => {
            const flag = rows.at(index)
            const top = index * rowPixels
            if (!flag) return <LoadingRow key={`row ${index}`} index={index} top={top} label={t.common.loading} />
            return (
              <FlagRow
                key={flag.id}
                {...rest}
                shownColumns={shownColumns}
                index={index}
                top={top}
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

interface HeadProps extends Pick<Props, 'shownColumns' | 'sort' | 'onSort' | 'onSelectAll'> {
  isAll: boolean
  isSome: boolean
}

function ListHead({ shownColumns, sort, onSort, isAll, isSome, onSelectAll }: HeadProps) {
  const t = useMessages()
  return (
    <div role="rowgroup" className={classes.headGroup}>
      <div role="row" aria-rowindex={1} className={classes.head}>
        <span role="columnheader">
          <Checkbox
            size="xs"
            aria-label={t.flags.selectAll}
            checked={isAll}
            indeterminate={!isAll && isSome}
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
