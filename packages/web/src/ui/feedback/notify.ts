import { notifications, notificationsStore } from '@mantine/notifications'
import { createElement, useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ActionNotice } from './action-notice.tsx'
import { problemText } from './problem-text.ts'

interface Notice {
  /** Deduplication key; a newer notification with the same key replaces the older one. Defaults to the message. */
  readonly id?: string
  readonly color?: 'green' | 'gray'
  readonly message: string
  /** Offers undo. */
  readonly onUndo?: () => unknown
  /** Offers a next step. */
  readonly next?: { readonly label: string; go(): unknown }
}

/** An action needs more time to be noticed. */
const actionMilliseconds = 30_000

const mark = ' at '

function hideAllAbout(subject: string): void {
  for (const { id } of notificationsStore.getState().notifications)
    if (id?.startsWith(subject + mark)) notifications.hide(id)
}

/** Toast notifications. They are announced and close automatically. */
export function useNotify() {
  const t = useMessages()
  return useMemo(() => {
    const closeButtonProps = { 'aria-label': t.common.close }
    return {
      /** Hides what was shown with this id. */
      dismiss: hideAllAbout,
      success: ({ message: text, onUndo, next, id: subject = text, color = 'green' }: Notice) => {
        hideAllAbout(subject)
        // A new id each time: a toast that is updated in place is not announced again.
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
