import { routes } from '@halyard/contract'
import { queryOptions } from '@tanstack/react-query'
import type { Call } from '../api/client.ts'

/** Refreshed by the change stream; evaluations are not streamed and are as old as the page. */
export const homeQuery = (call: Call, projectId: string) =>
  queryOptions({
    queryKey: ['home', projectId],
    queryFn: ({ signal }) => call(routes.home.get, { params: { project_id: projectId }, signal }),
  })
