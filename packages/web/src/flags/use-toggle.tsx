import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { Flag } from '@halyard/contract'
import { useCallback, useRef } from 'react'
import { problemText } from '../app/problems.tsx'
import { useMessages } from '../messages/language.tsx'
import { usePatchFlag } from './use-flags.ts'

/** Switches a flag with one click, and offers to undo it. */
export function useToggle(projectId: string) {
  const t = useMessages()
  const { mutateAsync } = usePatchFlag(projectId)
  const last = useRef<Flag>(undefined)

  const set = useCallback(
    async (flag: Flag, active: boolean): Promise<Flag | undefined> => {
      try {
        return await mutateAsync({ flag, patch: { active } })
      } catch (error) {
        notifications.show({ color: 'red', title: flag.key, message: problemText(t, error) })
        return undefined
      }
    },
    [mutateAsync, t],
  )

  const undo = useCallback(async () => {
    const flag = last.current
    last.current = undefined
    if (flag) await set(flag, !flag.active)
  }, [set])

  const toggle = useCallback(
    async (flag: Flag) => {
      const changed = await set(flag, !flag.active)
      if (!changed) return
      last.current = changed
      const id = `toggle-${flag.id}`
      const text = changed.active ? t.flags.switchedOn(flag.key) : t.flags.switchedOff(flag.key)
      notifications.hide(id)
      notifications.show({
        id,
        color: changed.active ? 'green' : 'gray',
        withCloseButton: true,
        closeButtonProps: { 'aria-label': t.common.close },
        message: (
          <Group justify="space-between" wrap="nowrap">
            <span style={{ overflowWrap: 'anywhere' }}>{text}</span>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                notifications.hide(id)
                undo()
              }}
            >
              {t.common.undo}
            </Button>
          </Group>
        ),
      })
    },
    [set, undo, t],
  )
  return { toggle, undo }
}
