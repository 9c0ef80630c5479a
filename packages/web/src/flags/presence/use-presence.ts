import { type FlagPresence, routes } from '@halyard/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Call } from '../../api/client.ts'
import { useCall } from '../../services/services.ts'

/** A report counts for `presenceSeconds`: one may be lost. */
const renewMilliseconds = 40_000

const alone: FlagPresence = { count: 0, results: [] }

/** Reports that the flag is open, while the tab is visible, and who else has it open. Changes are pushed. */
export function usePresence(projectId: string, flagId: number, isEditing: boolean): FlagPresence {
  const call = useCall()
  const queries = useQueryClient()
  const [pageId] = useState(createPageId)
  const params = useMemo(
    () => ({ project_id: projectId, id: String(flagId), page_id: pageId }),
    [projectId, flagId, pageId],
  )
  const { data = alone } = useQuery({
    queryKey: ['presence', projectId, String(flagId), isEditing],
    queryFn: ({ signal }) => call(routes.flagPresence.report, { params, body: { is_editing: isEditing }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: renewMilliseconds,
    refetchOnWindowFocus: 'always',
    staleTime: 0,
    gcTime: 0,
    // The next renewal is soon enough, and the flag can be edited without.
    retry: false,
  })
  useEffect(() => {
    const leave = () => leaveQuietly(call, params)
    // A page that comes back from the back/forward cache was reported as closed.
    const onShow = ({ persisted }: PageTransitionEvent) => {
      if (persisted) queries.invalidateQueries({ queryKey: ['presence'] })
    }
    window.addEventListener('pagehide', leave)
    window.addEventListener('pageshow', onShow)
    return () => {
      window.removeEventListener('pagehide', leave)
      window.removeEventListener('pageshow', onShow)
      leave()
    }
  }, [call, params, queries])
  return data
}

function leaveQuietly(call: Call, params: { project_id: string; id: string; page_id: string }): void {
  // Without it, the last report expires.
  call(routes.flagPresence.leave, { params, keepalive: true }).catch(() => {})
}

const pageIdBytes = 12

/** `crypto.randomUUID` exists on pages of secure origins only. */
const createPageId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(pageIdBytes)), byte => byte.toString(16).padStart(2, '0')).join('')
