import type { ProjectHome } from '@halyard/contract'
import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { InboxNews } from '../change-control/inbox/inbox-news.tsx'
import { useInbox } from '../change-control/inbox/use-inbox.ts'
import { useFreezes } from '../flags/gate/gate-queries.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useCanWrite, useProject } from '../services/session-queries.ts'
import { combineQueries, Loaded } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { Attention } from './attention.tsx'
import { FirstSteps } from './first-steps.tsx'
import classes from './home.module.css'
import { homeQuery } from './home-query.ts'
import { LatestChanges } from './latest-changes.tsx'
import { MostEvaluated } from './most-evaluated.tsx'
import { Running } from './running.tsx'
import { StartProject } from './start-project.tsx'
import { Waiting } from './waiting.tsx'

const newsMax = 5

/** The start page of a project: what waits for the user, what runs, and what happened. Everything is pushed. */
export function HomePage() {
  const t = useMessages()
  const { count } = useFormats()
  const { projectId } = useParams({ from: '/shell/project/$projectId/' })
  const project = useProject(projectId)
  const home = useQuery(homeQuery(useCall(), projectId))
  // The shell has requested both.
  const query = combineQueries({ home, inbox: useInbox(projectId), freezes: useFreezes(projectId) })
  const flags = home.data?.flags
  const intro = [project?.name, flags && flags.total > 0 && t.home.flags(count(flags.total), count(flags.active))]
  return (
    <Page title={t.home.title} intro={intro.filter(Boolean).join(' · ')}>
      <Loaded query={query}>{loaded => <Content projectId={projectId} home={loaded.home} />}</Loaded>
    </Page>
  )
}

function Content({ projectId, home }: { projectId: string; home: ProjectHome }) {
  const canWrite = useCanWrite(projectId)
  const isEmpty = home.flags.total === 0
  const hasHistory = !isEmpty || home.waiting.count + home.conflicts.count + home.changes.length > 0
  return (
    <Stack gap="lg">
      {isEmpty && <StartProject projectId={projectId} />}
      {!isEmpty && !home.is_connected && canWrite && <FirstSteps projectId={projectId} hasFlags />}
      {hasHistory && (
        <div className={classes.columns}>
          <Stack gap="lg" className={classes.waiting as string}>
            <Waiting projectId={projectId} home={home} />
            <InboxNews projectId={projectId} itemsMax={newsMax} />
          </Stack>
          <Stack gap="lg" className={classes.aside as string}>
            <Running projectId={projectId} upcoming={home.upcoming} />
            <Attention projectId={projectId} home={home} />
            <MostEvaluated projectId={projectId} flags={home.most_evaluated} />
          </Stack>
          <div className={classes.changes}>
            <LatestChanges projectId={projectId} changes={home.changes} />
          </div>
        </div>
      )}
    </Stack>
  )
}
