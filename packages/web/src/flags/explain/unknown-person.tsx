import { type Person, routes } from '@halyard/contract'
import { Alert, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'

const suggestionsMax = '5'

type SimilarPerson = Pick<Person, 'uuid' | 'name' | 'distinct_ids'>

/**
 * Says that no events from this distinct id are known, so that property conditions cannot match, and suggests similar
 * people.
 */
export function UnknownPerson({
  id,
  projectId,
  similar,
}: {
  id: string
  projectId: string
  similar: readonly SimilarPerson[]
}) {
  const t = useMessages()
  return (
    <Alert color="yellow" role="status">
      <Text size="sm">{t.explain.unknown(id)}</Text>
      {similar.length > 0 && (
        <Group gap="xs" mt="xs">
          <Text size="sm">{t.explain.didYouMean}</Text>
          {similar.map(
            ({ uuid, name, distinct_ids }) =>
              distinct_ids[0] !== undefined && (
                <Link
                  key={uuid}
                  to="/project/$projectId/debugger"
                  params={{ projectId }}
                  search={{ id: distinct_ids[0] }}
                >
                  {name === distinct_ids[0] ? name : `${name} (${distinct_ids[0]})`}
                </Link>
              ),
          )}
        </Group>
      )}
    </Alert>
  )
}

/**
 * Undefined for a known person, otherwise similar people. Loaded together with the results, so that the layout does
 * not shift.
 */
export function useSimilarPeople(projectId: string, id: string) {
  const exact = usePeople(projectId, { distinct_id: id }, true)
  const isUnknown = exact.data?.results.length === 0
  const similar = usePeople(projectId, { search: id }, isUnknown)
  return {
    isSettled: !exact.isPending && (!isUnknown || !similar.isPending),
    similar: isUnknown ? similar.data?.results : undefined,
  }
}

function usePeople(projectId: string, query: Readonly<Record<string, string>>, isWanted: boolean) {
  const call = useCall()
  return useQuery({
    queryKey: ['persons', projectId, 'similar', query],
    queryFn: ({ signal }) =>
      call(routes.persons.list, {
        params: { project_id: projectId },
        query: { ...query, limit: suggestionsMax },
        signal,
      }),
    enabled: isWanted,
  })
}
