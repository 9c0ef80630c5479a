import { ActionIcon, Button, Group, Menu, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { RefObject } from 'react'
import { useMessages } from '../../../i18n/language.tsx'
import { ChevronIcon, ColumnsIcon, CrossIcon, KeyboardIcon, SearchIcon } from '../../../ui/icons.tsx'
import { type FlagSearch, isFiltered } from '../flag-search.ts'
import { type ColumnName, columnNames } from '../table/columns.ts'
import classes from '../table/flag-list.module.css'
import { columnLabel } from '../table/flag-list.tsx'
import type { FlagFacets } from '../use-flag-facets.ts'
import { FavoriteFilter, FlagFilters } from './flag-filters.tsx'
import { SavedViews } from './saved-views.tsx'

interface Props {
  projectId: string
  search: FlagSearch
  onChange: (search: FlagSearch) => void
  onClear: () => void
  typed: string
  onType: (text: string) => void
  facets: FlagFacets
  shownColumns: readonly ColumnName[]
  onColumns: (columns: readonly ColumnName[]) => void
  fieldRef: RefObject<HTMLInputElement | null>
  /** Moves the focus from the field into the list. */
  onLeave: () => void
  onHelp: () => void
}

export function FlagToolbar({
  projectId,
  search,
  onChange,
  onClear,
  typed,
  onType,
  facets,
  fieldRef,
  onLeave,
  onHelp,
  ...rest
}: Props) {
  const t = useMessages()
  // On a phone the filters are collapsed behind a button, so that they do not push the flags off screen.
  const [isOpen, { toggle }] = useDisclosure(isFiltered(search))
  return (
    <Group gap="xs" role="search" aria-label={t.flags.search}>
      <TextInput
        ref={fieldRef}
        aria-label={t.flags.search}
        placeholder={`${t.flags.search}  /`}
        leftSection={<SearchIcon size={16} />}
        value={typed}
        onChange={event => onType(event.currentTarget.value)}
        onKeyDown={event => ['Escape', 'Enter', 'ArrowDown'].includes(event.key) && onLeave()}
        flex="3 1 8rem"
        maw={420}
      />
      <Button
        variant="default"
        hiddenFrom="sm"
        aria-expanded={isOpen}
        rightSection={<ChevronIcon size={16} />}
        onClick={toggle}
      >
        {t.flags.filters}
      </Button>
      <div className={classes.filters} data-open={isOpen || undefined}>
        <FlagFilters search={search} facets={facets} onChange={onChange} />
        <FavoriteFilter search={search} onChange={onChange} />
        <SavedViews projectId={projectId} search={search} onOpen={onChange} />
      </div>
      {(isFiltered(search) || typed !== '') && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t.flags.clearFilters}
          title={t.flags.clearFilters}
          onClick={onClear}
        >
          <CrossIcon size={16} />
        </ActionIcon>
      )}
      <ColumnMenu {...rest} />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t.shell.shortcuts}
        title={`${t.shell.shortcuts} (?)`}
        onClick={onHelp}
        visibleFrom="sm"
      >
        <KeyboardIcon />
      </ActionIcon>
    </Group>
  )
}

function ColumnMenu({ shownColumns, onColumns }: Pick<Props, 'shownColumns' | 'onColumns'>) {
  const t = useMessages()
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t.flags.columns}
          title={t.flags.columns}
          visibleFrom="md"
        >
          <ColumnsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {columnNames.map(name => {
          const isShown = shownColumns.includes(name)
          return (
            <Menu.CheckboxItem
              key={name}
              checked={isShown}
              onChange={() =>
                onColumns(columnNames.filter(each => (each === name ? !isShown : shownColumns.includes(each))))
              }
            >
              {columnLabel(t, name)}
            </Menu.CheckboxItem>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
