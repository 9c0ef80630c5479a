import { type ListedPerson, routes } from '@halyard/contract'
import { Autocomplete } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Ref } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'

const suggestionsMax = '8'
const waitMilliseconds = 200

interface Props {
  ref?: Ref<HTMLInputElement>
  projectId: string
  value: string
  label?: string
  size?: 'xs' | 'sm'
  onChange: (id: string) => void
  /** A suggestion was chosen. */
  onPick?: (person: ListedPerson) => void
}

/** A distinct id: typed, or picked from a search over all known properties. */
export function PersonPicker(props: Props) {
  const t = useMessages()
  const call = useCall()
  const [isOpen, { open, close }] = useDisclosure(false)
  const [isUsed, use] = useDisclosure(false)
  const [search] = useDebouncedValue(props.value, waitMilliseconds)
  const matches = useQuery({
    queryKey: ['persons', props.projectId, 'pick', search],
    queryFn: ({ signal }) =>
      call(routes.persons.list, {
        params: { project_id: props.projectId },
        query: { limit: suggestionsMax, search },
        signal,
      }),
    // A page that only shows the field sends no request.
    enabled: isUsed,
    staleTime: 30_000,
    // An option that is marked with the arrow keys does not vanish while the next results load.
    placeholderData: keepPreviousData,
  })
  const people = matches.data?.results ?? []
  const names = new Map(
    people.flatMap(({ distinct_ids, name }) => (distinct_ids[0] ? [[distinct_ids[0], name] as const] : [])),
  )
  return (
    <Autocomplete
      {...(props.ref && { ref: props.ref })}
      // A field that has the focus from the start must not cover the page.
      openOnFocus={false}
      label={props.label ?? t.explain.person}
      size={props.size ?? 'sm'}
      placeholder={t.explain.personHint}
      {...(props.size !== 'xs' && { miw: 280, flex: '1 1 280px' })}
      data={[...names.keys()]}
      renderOption={({ option }) => (
        <span>
          {names.get(option.value)}{' '}
          <span style={{ opacity: 0.8 }}>{names.get(option.value) !== option.value && option.value}</span>
        </span>
      )}
      // The server has already filtered, by more than the ids.
      filter={({ options }) => options}
      value={props.value}
      onChange={props.onChange}
      onFocus={use.open}
      onOptionSubmit={id => {
        const person = people.find(({ distinct_ids }) => distinct_ids[0] === id)
        if (person) props.onPick?.(person)
      }}
      dropdownOpened={isOpen}
      onDropdownOpen={open}
      onDropdownClose={close}
      // Enter submits and closes the suggestions, which would cover the results.
      onKeyDown={event => event.key === 'Enter' && close()}
    />
  )
}
