import { type Flag, routes } from '@halyard/contract'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { lazyComponent } from '../ui/lazy-component.tsx'
import { flagKey } from './flag-cache.ts'
import { plainSave, type SaveMode } from './gate/save-mode.ts'
import { useRequestedNotice } from './gate/use-requested-notice.ts'
import type { ListedFlag } from './optimistic-flag.ts'
import { usePatchFlag } from './use-flags.ts'

/** Not needed to show flags; loaded while the page is idle. */
const loadDialog = async () => (await import('./review/toggle-dialog.tsx')).ToggleDialog
const ToggleDialog = lazyComponent(loadDialog)
const idleMilliseconds = 1000

/** Turns a flag on or off: asks with the impact, then offers undo. The caller renders `dialog`. */
export function useToggle(project: { readonly id: number | string; readonly group_types: Record<string, string> }) {
  const t = useMessages()
  const notify = useNotify()
  const { mutateAsync } = usePatchFlag(String(project.id))
  const announceRequest = useRequestedNotice(String(project.id))
  const [asked, setAsked] = useState<Flag>()
  const call = useCall()
  const queries = useQueryClient()
  /** A list does not have the definition, which the impact needs. */
  const ask = useCallback(
    async ({ id, key }: ListedFlag) => {
      const params = { project_id: String(project.id), id: String(id) }
      const queryFn = () => call(routes.flags.get, { params })
      try {
        setAsked(await queries.fetchQuery({ queryKey: flagKey(params.project_id, id), queryFn }))
      } catch (error) {
        notify.fail(error, key)
      }
    },
    [call, queries, notify, project.id],
  )
  const last = useRef<Flag>(undefined)

  /** Replaces the previous notification about the same flag. */
  const showResult = useCallback(
    (flag: Flag, onUndo?: () => unknown) =>
      notify.success({
        id: `toggle-${flag.id}`,
        color: flag.active ? 'green' : 'gray',
        message: flag.active ? t.flags.turnedOn(flag.key) : t.flags.turnedOff(flag.key),
        ...(onUndo && { onUndo }),
      }),
    [notify, t],
  )
  const undo = useCallback(async () => {
    const flag = last.current
    last.current = undefined
    if (!flag) return
    try {
      const outcome = await mutateAsync({ flag, patch: { active: !flag.active }, mode: plainSave })
      if (outcome.kind === 'saved') showResult(outcome.flag)
      else announceRequest(outcome.request)
    } catch (error) {
      notify.fail(error, flag.key)
    }
  }, [mutateAsync, notify, showResult, announceRequest])

  const confirm = async (flag: Flag, mode: SaveMode) => {
    const outcome = await mutateAsync({ flag, patch: { active: !flag.active }, mode })
    if (outcome.kind === 'requested') return announceRequest(outcome.request)
    last.current = outcome.flag
    showResult(outcome.flag, undo)
  }
  useEffect(() => {
    // If it fails, it is loaded when it is needed.
    const timer = setTimeout(() => loadDialog().catch(() => {}), idleMilliseconds)
    return () => clearTimeout(timer)
  }, [])
  const dialog: ReactNode = (
    <Suspense fallback={null}>
      {asked && (
        <ToggleDialog
          flag={asked}
          project={project}
          onConfirm={mode => confirm(asked, mode)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Suspense>
  )
  return { toggle: ask, undo, dialog }
}
