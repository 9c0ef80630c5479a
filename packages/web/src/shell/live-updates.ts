import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useProject } from '../api/queries.ts'
import { useWhere } from './navigation.tsx'

/** Many changes in a row are looked up once. */
const gatherMilliseconds = 300

/** Listens to the project's change stream, so that what anybody changes anywhere shows up without a reload. */
export function useLiveUpdates(): void {
  const { projectId = '' } = useWhere()
  const token = useProject(projectId)?.api_token
  const queries = useQueryClient()
  useEffect(() => {
    if (token === undefined) return
    // The public token is all that this stream asks for; the browser reconnects by itself.
    const stream = new EventSource(`/ofrep/v1/stream?token=${encodeURIComponent(token)}`)
    let timer: ReturnType<typeof setTimeout> | undefined
    stream.onmessage = () => {
      clearTimeout(timer)
      timer = setTimeout(() => refresh(queries, projectId), gatherMilliseconds)
    }
    return () => {
      clearTimeout(timer)
      stream.close()
    }
  }, [token, projectId, queries])
}

const changing = ['flags', 'flag', 'flag-history', 'activity', 'cohorts', 'why']

function refresh(queries: QueryClient, projectId: string): void {
  queries.invalidateQueries({
    predicate: ({ queryKey: [kind, of] }) => of === projectId && changing.includes(String(kind)),
  })
}
