import { ActionIcon, NativeSelect } from '@mantine/core'
import { useMessages } from '../../../i18n/language.tsx'
import { StarIcon } from '../../../ui/icons.tsx'
import type { FlagSearch } from '../flag-search.ts'
import classes from '../table/flag-list.module.css'
import type { FlagFacets } from '../use-flag-facets.ts'

interface Props {
  search: FlagSearch
  facets: FlagFacets
  onChange: (search: FlagSearch) => void
}

interface Option {
  readonly value: string
  readonly label: string
}

/** One select per filter, and the order of the list. */
export function FlagFilters({ search, facets, onChange }: Props) {
  const t = useMessages()
  const tags = facets.tags.map(({ name }) => name)
  const anyOf = (label: string) => ({ value: '', label: `${label}: ${t.common.any}` })
  const select = (name: keyof FlagSearch, label: string, options: readonly Option[]) => (
    <FilterSelect name={name} label={label} options={options} search={search} onChange={onChange} />
  )
  return (
    <>
      {select('state', t.flags.state, [
        anyOf(t.flags.state),
        { value: 'on', label: t.flags.stateOn },
        { value: 'off', label: t.flags.stateOff },
        { value: 'stale', label: t.flags.stateStale },
        { value: 'archived', label: t.archive.archived },
        { value: 'deleted', label: t.flags.stateDeleted },
      ])}
      {select('type', t.flags.type, [
        anyOf(t.flags.type),
        { value: 'boolean', label: t.flags.typeBoolean },
        { value: 'variants', label: t.flags.typeVariants },
      ])}
      {select('tag', t.flags.tag, [
        anyOf(t.flags.tag),
        ...withChosen(tags, search.tag).map(tag => ({ value: tag, label: tag })),
      ])}
      {select('owner', t.flags.owner, [
        { value: '', label: t.flags.anyOwner },
        ...facets.creators.map(({ id, first_name, email }) => ({ value: String(id), label: first_name || email })),
      ])}
      {select('sort', t.flags.sort, [
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
    </>
  )
}

interface SelectProps {
  name: keyof FlagSearch
  label: string
  options: readonly Option[]
  search: FlagSearch
  onChange: (search: FlagSearch) => void
}

function FilterSelect({ name, label, options, search, onChange }: SelectProps) {
  const choose = (value: string) => {
    const { [name]: _old, ...others } = search
    const read = name === 'owner' ? Number(value) : value
    onChange(value === '' ? others : ({ ...others, [name]: read } as FlagSearch))
  }
  return (
    <NativeSelect
      aria-label={label}
      className={classes.filter as string}
      wrapperProps={{ 'data-chosen': search[name] !== undefined || undefined }}
      value={String(search[name] ?? '')}
      onChange={event => choose(event.currentTarget.value)}
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
}

export function FavoriteFilter({ search, onChange }: Pick<Props, 'search' | 'onChange'>) {
  const t = useMessages()
  return (
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
  )
}

const withChosen = (tags: string[], tag: string | undefined): string[] =>
  tag === undefined || tags.includes(tag) ? tags : [...tags, tag]
