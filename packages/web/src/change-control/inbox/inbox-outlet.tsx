import { Outlet } from '@tanstack/react-router'
import { TitleCountContext } from '../../ui/layout/title-count-context.ts'
import { useInboxCount } from './use-inbox.ts'
import { useInboxNotices } from './use-inbox-notices.ts'

/** The page, with notices about what is new for the user and its count in the tab's title. */
export function InboxOutlet({ projectId }: { projectId: string | undefined }) {
  useInboxNotices(projectId)
  const { count } = useInboxCount(projectId)
  return (
    <TitleCountContext value={count}>
      <Outlet />
    </TitleCountContext>
  )
}
