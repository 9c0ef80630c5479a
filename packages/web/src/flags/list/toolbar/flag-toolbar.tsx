import { ActionIcon, Button, Group, Menu, NativeSelect, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { RefObject } from 'react'
import { useMessages } from '../../../i18n/language.tsx'
import { ChevronIcon, ColumnsIcon, CrossIcon, KeyboardIcon, SearchIcon, StarIcon } from '../../../ui/icons.tsx'
import { type FlagSearch, isFiltered } from '../flag-search.ts'
import { type ColumnName, columnNames } from '../table/columns.ts'
import classes from '../table/flag-list.module.css'
import { columnLabel } from '../table/flag-list.tsx'
import type { FlagFacets } from '../use-flag-facets.ts'
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
  const tags = facets.tags.map(({ name }) => name)
  const set = (name: keyof FlagSearch, value: string) => {
    const { [name]: _old, ...rest } = search
    const read = name === 'owner' ? Number(value) : value
    onChange(value === '' ? rest : ({ ...rest, [name]: read } as FlagSearch))
  }
  const choice = (name: keyof FlagSearch, label: string, options: { value: string; label: string }[]) => (
    <NativeSelect
      aria-label={label}
      className={classes.filter as string}
      wrapperProps={{ 'data-chosen': search[name] !== undefined || undefined }}
      value={String(search[name] ?? '')}
      onChange={event => set(name, event.currentTarget.value)}
      // The chosen value keeps the name of its filter: "State: Off", not "Off".
      data={options.map(option =>
        option.value !== '' && option.value === String(search[name]) && name !== 'sort'
          ? { ...option, label: `${label}: ${option.label}` }
          : option,
      )}
      rightSectionWidth={26}
      styles={{ input: { fontSize: '0.8125rem', paddingInline: '0.625rem 1.5rem' } }}
    />
  )
  const anyOf = (label: string) => ({ value: '', label: `${label}: ${t.common.any}` })
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
        {choice('state', t.flags.state, [
          anyOf(t.flags.state),
          { value: 'on', label: t.flags.stateOn },
          { value: 'off', label: t.flags.stateOff },
          { value: 'stale', label: t.flags.stateStale },
          { value: 'archived', label: t.archive.archived },
          { value: 'deleted', label: t.flags.stateDeleted },
        ])}
        {choice('type', t.flags.type, [
          anyOf(t.flags.type),
          { value: 'boolean', label: t.flags.typeBoolean },
          { value: 'variants', label: t.flags.typeVariants },
        ])}
        {choice('tag', t.flags.tag, [
          anyOf(t.flags.tag),
          ...withChosen(tags, search.tag).map(tag => ({ value: tag, label: tag })),
        ])}
        {choice('owner', t.flags.owner, [
          { value: '', label: t.flags.anyOwner },
          ...facets.creators.map(({ id, first_name, email }) => ({ value: String(id), label: first_name || email })),
        ])}
        {choice('sort', t.flags.sort, [
          { value: '', label: t.flags.sortNewest },
          { value: 'created', label: t.flags.sortOldest },
          { value: 'key', label: t.flags.sortKey },
          { value: '-key', label: t.flags.sortKeyBackwards },
          { value: '-updated', label: t.flags.sortUpdated },
          { value: 'updated', label: t.flags.sortUpdatedBackwards },
          { value: '-called', label: t.flags.sortCalled },
          { value: 'called', label: t.flags.sortCalledBackwards },
          { value: '-state', label: t.flags.sortOn },
          { value: 'state', label: t.flags.sortOff },
        ])}
        <ActionIcon
          variant={search.favorite ? 'light' : 'subtle'}
          color={search.favorite ? 'yellow' : 'gray'}
          size="lg"
          aria-label={t.views.favorites}
          aria-pressed={search.favorite === true}
          title={t.views.favorites}
          onClick={() => {
            const { favorite, ...others } = search
            onChange(favorite ? others : { ...others, favorite: true })
          }}
        >
          <StarIcon isFilled={search.favorite === true} />
        </ActionIcon>
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

const withChosen = (tags: string[], tag: string | undefined): string[] =>
  tag === undefined || tags.includes(tag) ? tags : [...tags, tag]
