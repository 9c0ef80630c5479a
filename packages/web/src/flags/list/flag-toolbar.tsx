import type { Flag } from '@halyard/contract'
import { ActionIcon, Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type RefObject, useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ChevronIcon, CrossIcon, KeyboardIcon, SearchIcon } from '../../ui/icons.tsx'
import classes from './flag-list.module.css'
import { type FlagSearch, isFiltered, tagsOf } from './flag-search.ts'

interface Props {
  search: FlagSearch
  onChange: (search: FlagSearch) => void
  onClear: () => void
  typed: string
  onType: (text: string) => void
  flags: readonly Flag[]
  fieldRef: RefObject<HTMLInputElement | null>
  /** Moves the focus from the field into the list. */
  onLeave: () => void
  onHelp: () => void
}

export function FlagToolbar({ search, onChange, onClear, typed, onType, flags, fieldRef, onLeave, onHelp }: Props) {
  const t = useMessages()
  // On a phone the filters are collapsed behind a button, so that they do not push the flags off screen.
  const [isOpen, { toggle }] = useDisclosure(isFiltered(search))
  const tags = useMemo(() => [...new Set(flags.flatMap(tagsOf))].sort(), [flags])
  const owners = useMemo(
    () => [...new Map(flags.map(({ created_by }) => [created_by.id, created_by.first_name || created_by.email]))],
    [flags],
  )
  const set = (name: keyof FlagSearch, value: string) => {
    const { [name]: _old, ...rest } = search
    const read = name === 'owner' ? Number(value) : value
    onChange(value === '' ? rest : ({ ...rest, [name]: read } as FlagSearch))
  }
  const choice = (name: keyof FlagSearch, label: string, options: { value: string; label: string }[]) => (
    <NativeSelect
      aria-label={label}
      value={String(search[name] ?? '')}
      onChange={event => set(name, event.currentTarget.value)}
      // The chosen value keeps the name of its filter: "State: Off", not "Off".
      data={options.map(option =>
        option.value !== '' && option.value === String(search[name]) && name !== 'sort'
          ? { ...option, label: `${label}: ${option.label}` }
          : option,
      )}
      // A fixed basis: sizing by the longest tag would shift the layout when tags load.
      flex="1 1 8.5rem"
      miw={0}
      maw={180}
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
        flex="1 1 11rem"
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
          ...owners.map(([id, name]) => ({ value: String(id), label: name })),
        ])}
        {choice('sort', t.flags.sort, [
          { value: '', label: t.flags.sortNewest },
          { value: 'oldest', label: t.flags.sortOldest },
          { value: 'key', label: t.flags.sortKey },
          { value: '-key', label: t.flags.sortKeyBackwards },
        ])}
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

const withChosen = (tags: string[], tag: string | undefined): string[] =>
  tag === undefined || tags.includes(tag) ? tags : [...tags, tag]
