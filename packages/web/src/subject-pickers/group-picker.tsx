import { type Group, routes } from '@halyard/contract'
import { Autocomplete } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCall } from '../services/services.ts'

const suggestionsMax = '8'
const waitMilliseconds = 200

interface Props {
  projectId: string
  /** Index of the group type. */
  typeIndex: string
  label: string
  value: string
  onChange: (key: string) => void
  /** A suggestion was chosen. */
  onPick: (group: Group) => void
}

/** The key of a group: typed, or picked from a search over all known properties. */
export function GroupPicker({ projectId, typeIndex, label, value, onChange, onPick }: Props) {
  const call = useCall()
  const [search] = useDebouncedValue(value, waitMilliseconds)
  const matches = useQuery({
    queryKey: ['groups', projectId, typeIndex, 'pick', search],
    queryFn: ({ signal }) =>
      call(routes.groups.list, {
        params: { project_id: projectId },
        query: { limit: suggestionsMax, search, group_type_index: typeIndex },
        signal,
      }),
    staleTime: 30_000,
    // An option that is marked with the arrow keys does not vanish while the next results load.
    placeholderData: keepPreviousData,
  })
  const groups = matches.data?.results ?? []
  return (
    <Autocomplete
      size="xs"
      label={label}
      data={groups.map(({ group_key }) => group_key)}
      // The server has already filtered, by more than the keys.
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
      onOptionSubmit={key => {
        const group = groups.find(({ group_key }) => group_key === key)
        if (group) onPick(group)
      }}
    />
  )
}
