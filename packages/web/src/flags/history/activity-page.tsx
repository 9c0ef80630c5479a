import { routes } from '@halyard/contract'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { LoadMoreList } from '../../ui/data/load-more-list.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { useFlagKeys } from '../use-flag-keys.ts'
import { useWording } from '../use-wording.ts'
import { Entry } from './history-tab.tsx'

const pageSize = 30

/** The activity of all flags in the project. */
export function ActivityPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/activity' })
  const project = useProject(projectId)
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
  const flags = useFlagKeys(projectId, activity.data)
  const wording = useWording({ project: project ?? { group_types: {} }, flags, cohorts: useCohorts(projectId) })
  return (
    <Page title={t.shell.activity} intro={project?.name}>
      <LoadMoreList query={activity} empty={<EmptyState title={t.history.empty} text={t.history.emptyText} />}>
        {entry => <Entry entry={entry} wording={wording} projectId={projectId} />}
      </LoadMoreList>
    </Page>
  )
}
