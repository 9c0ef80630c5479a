import { routes } from '@halyard/contract'
import { Alert, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { useApiQuery } from '../../services/use-api-query.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'

/** How often another service and Halyard had the same value; nothing where shadow mode is not in use. */
export function ShadowLine({ projectId, flagId }: { projectId: string; flagId: number }) {
  const t = useMessages()
  const { data } = useApiQuery(['flag-shadow', projectId, flagId], routes.shadow.get, {
    params: { project_id: projectId, id: String(flagId) },
  })
  if (!data || data.since === null) return null
  const { agree, differ, failed, last_difference: last } = data
  return (
    <Alert color={differ === 0 ? 'green' : 'yellow'} title={t.shadow.title(agree, differ)} mt="md">
      <Text size="sm">{t.shadow.since(data.since)}</Text>
      {failed > 0 && <Text size="sm">{t.shadow.failed(failed)}</Text>}
      {last && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {t.shadow.last(last.distinct_id, JSON.stringify(last.there), JSON.stringify(last.here))}{' '}
          <RelativeTime instant={last.at} />
        </Text>
      )}
    </Alert>
  )
}
