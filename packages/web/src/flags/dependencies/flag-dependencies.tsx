import type { FlagDependencies as Dependencies } from '@halyard/contract'
import { Anchor, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { DependencyGraph } from './dependency-graph.tsx'
import { DependencyTable } from './dependency-table.tsx'

interface Props {
  projectId: string
  flagId: number
  dependencies: Dependencies
}

/** What a flag depends on and what depends on it, directly or not. */
export function FlagDependencies({ projectId, flagId, dependencies: { count, results } }: Props) {
  const t = useMessages()
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.dependencies.title}>
      <Stack gap="sm">
        <Title order={2}>{t.dependencies.title}</Title>
        {count > results.length && <Text size="sm">{t.dependencies.more(results.length, count)}</Text>}
        {results.length > 1 ? (
          <>
            <DependencyGraph projectId={projectId} nodes={results} currentId={flagId} />
            <DependencyTable projectId={projectId} nodes={results} />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {t.dependencies.alone}
          </Text>
        )}
        <Anchor component={Link} to={`/project/${projectId}/dependencies`} size="sm">
          {t.dependencies.all}
        </Anchor>
      </Stack>
    </Paper>
  )
}
