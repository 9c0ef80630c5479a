import { notifications } from '@mantine/notifications'
import { createElement, useMemo } from 'react'
import { useMessages } from '../messages/language.tsx'
import { problemText } from './problems.tsx'
import { UndoNotice } from './undo-notice.tsx'

interface Notice {
  readonly id?: string
  readonly color?: 'green' | 'gray'
  readonly message: string
  /** Offers to take back what the notice tells of. */
  readonly onUndo?: () => unknown
}

/** A way back must not be gone before it is found. */
const undoMilliseconds = 30_000

/** Short notices at the edge of the page. They are read out and go away by themselves. */
export function useNotify() {
  const t = useMessages()
  return useMemo(() => {
    const closeButtonProps = { 'aria-label': t.common.close }
    return {
      tell: ({ message: text, onUndo, id = text, color = 'green' }: Notice) => {
        notifications.hide(id)
        const undo = () => {
          notifications.hide(id)
          onUndo?.()
        }
        const message = onUndo ? createElement(UndoNotice, { text, onUndo: undo }) : text
        notifications.show({ id, color, closeButtonProps, message, ...(onUndo && { autoClose: undoMilliseconds }) })
      },
      fail: (error: unknown, title?: string) => {
        notifications.show({
          color: 'red',
          closeButtonProps,
          title,
          message: typeof error === 'string' ? error : problemText(t, error),
        })
      },
    }
  }, [t])
}
