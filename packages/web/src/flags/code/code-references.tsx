import { routes } from '@halyard/contract'
import { Anchor, Code, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { LoadMoreList } from '../../ui/data/load-more-list.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'

const pageSize = 20

/** The lines of code that name a flag, as of the last scan of each repository. */
export function CodeReferences({ projectId, flagId }: { projectId: string; flagId: number }) {
  const t = useMessages()
  const call = useCall()
  const references = useInfiniteQuery({
    queryKey: ['code-references', projectId, flagId],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }) => {
      const page = await call(routes.codeReferences.listOfFlag, {
        params: { project_id: projectId, id: String(flagId) },
        query: { limit: String(pageSize), offset: String(pageParam) },
        signal,
      })
      const results = page.results.map(one => ({ ...one, id: `${one.repository} ${one.path}:${one.line}` }))
      return { ...page, results }
    },
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.code.references}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{t.code.references}</Title>
          <Anchor href="/docs/guide/code-references" underline="always" size="sm">
            {t.code.howToScan}
          </Anchor>
        </Group>
        <LoadMoreList
          query={references}
          empty={
            <Text size="sm" c="dimmed">
              {t.code.noReferences}
            </Text>
          }
        >
          {({ repository, branch, path, line, excerpt, scanned_at: scannedAt }) => (
            <article>
              <Group justify="space-between" gap="xs">
                <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
                  {path}:{line}
                </Text>
                <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {repository}
                  {branch !== null && ` · ${branch}`} · <RelativeTime instant={scannedAt} />
                </Text>
              </Group>
              {excerpt !== '' && (
                <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                  {excerpt}
                </Code>
              )}
            </article>
          )}
        </LoadMoreList>
      </Stack>
    </Paper>
  )
}
