import { routes } from '@halyard/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { cacheFlag } from '../flag-cache.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { type SaveOutcome, savedOrRequested } from '../save-flag.ts'

/** Undoes a change by restoring the version before it. Where a policy asks for approval, that is requested. */
export function useRevert(projectId: string, flagId: number | string) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const announceRequest = useRequestedNotice(projectId)
  const params = { project_id: projectId, id: String(flagId) }

  /** Shows what became of a save. */
  const settle = async (saving: Promise<SaveOutcome>): Promise<SaveOutcome> => {
    const outcome = await saving
    if (outcome.kind === 'requested') announceRequest(outcome.request)
    else {
      cacheFlag(queries, projectId, outcome.flag)
      await queries.invalidateQueries({ queryKey: ['flag-history', projectId, params.id] })
    }
    return outcome
  }
  const revertTo = async (version: number): Promise<void> => {
    try {
      const restoring = call(routes.flagVersions.restore, { params, body: { version } })
      const { kind } = await settle(savedOrRequested(restoring))
      if (kind === 'saved') notify.success({ message: t.versions.restored(version) })
    } catch (error) {
      notify.fail(error)
    }
  }
  return { settle, revertTo }
}
