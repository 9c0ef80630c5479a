import { Anchor, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { DependencyGraph } from './dependency-graph.tsx'
import { DependencyTable } from './dependency-table.tsx'
import { useDependencies } from './use-dependencies.ts'

/** What a flag depends on and what depends on it, directly or not. */
export function FlagDependencies({ projectId, flagId }: { projectId: string; flagId: number }) {
  const t = useMessages()
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.dependencies.title}>
      <Stack gap="sm">
        <Title order={2}>{t.dependencies.title}</Title>
        <Loaded query={useDependencies(projectId, String(flagId))}>
          {({ count, results }) =>
            results.length <= 1 ? (
              <Text size="sm" c="dimmed">
                {t.dependencies.alone}
              </Text>
            ) : (
              <>
                {count > results.length && <Text size="sm">{t.dependencies.more(results.length, count)}</Text>}
                <DependencyGraph projectId={projectId} nodes={results} currentId={flagId} />
                <DependencyTable projectId={projectId} nodes={results} />
              </>
            )
          }
        </Loaded>
        <Anchor component={Link} to={`/project/${projectId}/dependencies`} size="sm">
          {t.dependencies.all}
        </Anchor>
      </Stack>
    </Paper>
  )
}
