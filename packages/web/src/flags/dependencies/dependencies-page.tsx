import { Stack, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { GraphIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { DependencyGraph } from './dependency-graph.tsx'
import { DependencyTable } from './dependency-table.tsx'
import { useDependencies } from './use-dependencies.ts'

/** Which flags of a project depend on which. */
export function DependenciesPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/dependencies' })
  return (
    <Page title={t.dependencies.title} intro={t.dependencies.intro} wide>
      <Loaded query={useDependencies(projectId)}>
        {({ count, results }) =>
          results.length === 0 ? (
            <EmptyState Icon={GraphIcon} title={t.dependencies.none} text={t.dependencies.noneText} />
          ) : (
            <Stack>
              {count > results.length && <Text size="sm">{t.dependencies.more(results.length, count)}</Text>}
              <DependencyGraph projectId={projectId} nodes={results} />
              <DependencyTable projectId={projectId} nodes={results} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}
