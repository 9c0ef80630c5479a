import { notifications, notificationsStore } from '@mantine/notifications'
import { createElement, useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ActionNotice } from './action-notice.tsx'
import { problemText } from './problems.tsx'

interface Notice {
  /** What it is about, where that is not its words: the next notice about the same takes its place. */
  readonly id?: string
  readonly color?: 'green' | 'gray'
  readonly message: string
  /** Offers to take back what the notice tells of. */
  readonly onUndo?: () => unknown
  /** Offers what to do next. */
  readonly next?: { readonly label: string; go(): unknown }
}

/** A way back, or on, must not be gone before it is found. */
const actionMilliseconds = 30_000

const mark = ' at '

/** The newest word takes the place of the one before. */
function hideAllAbout(subject: string): void {
  for (const { id } of notificationsStore.getState().notifications)
    if (id?.startsWith(subject + mark)) notifications.hide(id)
}

/** Short notices at the edge of the page. They are read out and go away by themselves. */
export function useNotify() {
  const t = useMessages()
  return useMemo(() => {
    const closeButtonProps = { 'aria-label': t.common.close }
    return {
      tell: ({ message: text, onUndo, next, id: subject = text, color = 'green' }: Notice) => {
        hideAllAbout(subject)
        // A new notice each time: one that stays with the same words is not read out again.
        const id = `${subject}${mark}${performance.now()}`
        const action = onUndo ? { label: t.common.undo, go: onUndo } : next
        const onAct = () => {
          notifications.hide(id)
          action?.go()
        }
        const message = action ? createElement(ActionNotice, { text, label: action.label, onAct }) : text
        notifications.show({ id, color, closeButtonProps, message, ...(action && { autoClose: actionMilliseconds }) })
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
