import { routes } from '@halyard/contract'
import { Group, List, Paper, Progress, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCall } from '../../app/services.ts'
import { useFormats, useMessages } from '../../messages/language.tsx'
import { type Draft, draftToWire } from './draft.ts'

interface Props {
  projectId: string
  /** Undefined for a new flag: there is nothing to compare with. */
  flagId: number | undefined
  draft: Draft
  isSound: boolean
}

const waitMilliseconds = 400

/** Whom the flag would reach as it stands in the form, and who would gain or lose it by saving. */
export function BlastRadius({ projectId, flagId, draft, isSound }: Props) {
  const t = useMessages()
  const { count, percent } = useFormats()
  const call = useCall()
  const [asked] = useDebouncedValue(draft, waitMilliseconds)
  const body = { ...draftToWire(asked), key: asked.key === '' ? 'new' : asked.key }
  const reach = useQuery({
    queryKey: ['blast-radius', projectId, flagId, JSON.stringify(body)],
    queryFn: ({ signal }) =>
      call(routes.flagReach.userBlastRadius, {
        params: { project_id: projectId },
        ...(flagId !== undefined && { query: { compare_to: String(flagId) } }),
        body,
        signal,
      }),
    enabled: isSound,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 10_000,
  })
  if (!reach.data) return null
  const { would_be_on, total_users, users_affected, comparison } = reach.data
  const on = would_be_on ?? users_affected
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.reach.title}>
      <Title order={2} mb={4}>
        {t.reach.title}
      </Title>
      <div role="status">
        {total_users === 0 ? (
          <Text size="sm" c="dimmed">
            {t.reach.nobodyKnown}
          </Text>
        ) : (
          <>
            <Text size="sm" mb={6}>
              {t.reach.on(count(on), count(total_users), percent((100 * on) / total_users))}
            </Text>
            <Progress value={(100 * on) / total_users} aria-label={t.reach.title} mb="xs" />
            {comparison && comparison.gains + comparison.losses + comparison.changes > 0 && (
              <List size="sm" listStyleType="none" spacing={2}>
                <List.Item>{t.reach.gain(count(comparison.gains))}</List.Item>
                <List.Item>{t.reach.lose(count(comparison.losses))}</List.Item>
                {comparison.changes > 0 && <List.Item>{t.reach.change(count(comparison.changes))}</List.Item>}
              </List>
            )}
            {comparison && (
              <Group gap={4} mt={4}>
                <Names label={t.reach.forExample} people={[...comparison.sample_gains, ...comparison.sample_losses]} />
              </Group>
            )}
          </>
        )}
      </div>
    </Paper>
  )
}

const namesMax = 3

function Names({
  label,
  people,
}: {
  label: string
  people: readonly { readonly name: string; readonly after: boolean | string }[]
}) {
  if (people.length === 0) return null
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {label}:{' '}
      {people
        .slice(0, namesMax)
        .map(({ name }) => name)
        .join(', ')}
    </Text>
  )
}
