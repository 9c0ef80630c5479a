import { notifications } from '@mantine/notifications'
import type { ReactNode } from 'react'
import { useMessages } from '../messages/language.tsx'
import { problemText } from './problems.tsx'

interface Notice {
  readonly id?: string
  readonly color?: 'green' | 'gray'
  readonly message: ReactNode
}

/** Short notices at the edge of the page. They are read out and go away by themselves. */
export function useNotify() {
  const t = useMessages()
  const closeButtonProps = { 'aria-label': t.common.close }
  return {
    tell: (notice: Notice) => {
      if (notice.id) notifications.hide(notice.id)
      notifications.show({ color: 'green', closeButtonProps, ...notice })
    },
    fail: (error: unknown, title?: string) => {
      notifications.show({
        color: 'red',
        closeButtonProps,
        title,
        message: typeof error === 'string' ? error : problemText(t, error),
      })
    },
    hide: (id: string) => notifications.hide(id),
  }
}
