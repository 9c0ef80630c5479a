import { routes } from '@halyard/contract'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCohorts } from '../api/cohorts.ts'
import { useProject } from '../api/queries.ts'
import { EmptyState } from '../app/empty-state.tsx'
import { EndlessList } from '../app/endless-list.tsx'
import { Page } from '../app/page.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'
import { Entry } from './history-tab.tsx'
import { useFlags } from './use-flags.ts'
import { useWording } from './use-wording.ts'

const pageSize = 30

/** What happened to the flags of the project. */
export function ActivityPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/activity' })
  const project = useProject(projectId)
  const { flags } = useFlags(projectId)
  const wording = useWording({
    project: project ?? { group_types: {} },
    flags: flags ?? [],
    cohorts: useCohorts(projectId),
  })
  const call = useCall()
  const activity = useInfiniteQuery({
    queryKey: ['activity', projectId],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(routes.flags.projectActivity, {
        params: { project_id: projectId },
        query: { limit: String(pageSize), offset: String(pageParam) },
        signal,
      }),
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  return (
    <Page title={t.shell.activity} intro={project?.name}>
      <EndlessList query={activity} empty={<EmptyState title={t.history.nothing} text={t.history.nothingText} />}>
        {entry => <Entry entry={entry} wording={wording} projectId={projectId} />}
      </EndlessList>
    </Page>
  )
}
