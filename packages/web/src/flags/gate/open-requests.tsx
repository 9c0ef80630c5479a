import { routes } from '@halyard/contract'
import { Alert, Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useApiQuery } from '../../services/use-api-query.ts'

interface Props {
  projectId: string
  flagId: number
}

/** The changes of a flag that wait. */
export function useOpenRequests({ projectId, flagId }: Props) {
  return useApiQuery(['change-requests', projectId, 'of-flag', flagId], routes.changeRequests.list, {
    params: { project_id: projectId },
    query: { resource_id: String(flagId), state: 'pending,approved,conflicted', limit: '20' },
  })
}

/** Leads from a flag to the changes of it that wait. */
export function OpenRequests(props: Props) {
  const { projectId } = props
  const t = useMessages()
  const { data } = useOpenRequests(props)
  if (!data || data.count === 0) return null
  return (
    <Alert color="indigo" mb="md" title={t.requests.openFor(data.count)}>
      {data.results.map(({ id, title, state }) => {
        const states: Readonly<Record<string, string>> = t.requests.states
        return (
          // On a phone, links on lines below each other have 24 px each.
          <Text key={id} size="sm" lh={{ base: '1.5rem', sm: 'sm' }}>
            <Anchor
              component={Link}
              to={`/project/${projectId}/requests/${id}`}
              inherit
              // The color of links has too little contrast on the color of the notice.
              c="inherit"
              underline="always"
            >
              {title}
            </Anchor>{' '}
            · {states[state] ?? state}
          </Text>
        )
      })}
    </Alert>
  )
}
