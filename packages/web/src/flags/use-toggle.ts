import type { Flag } from '@halyard/contract'
import { useCallback, useRef } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { usePatchFlag } from './use-flags.ts'

/** Toggles a flag with one click and offers undo. */
export function useToggle(projectId: string) {
  const t = useMessages()
  const notify = useNotify()
  const { mutateAsync } = usePatchFlag(projectId)
  const last = useRef<Flag>(undefined)

  const set = useCallback(
    async (flag: Flag, active: boolean): Promise<Flag | undefined> => {
      try {
        return await mutateAsync({ flag, patch: { active } })
      } catch (error) {
        notify.fail(error, flag.key)
        return undefined
      }
    },
    [mutateAsync, notify],
  )

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
    const undone = flag && (await set(flag, !flag.active))
    if (undone) showResult(undone)
  }, [set, showResult])

  const toggle = useCallback(
    async (flag: Flag) => {
      const changed = await set(flag, !flag.active)
      if (!changed) return
      last.current = changed
      showResult(changed, undo)
    },
    [set, undo, showResult],
  )
  return { toggle, undo }
}
