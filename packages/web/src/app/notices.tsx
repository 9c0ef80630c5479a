import { Notifications } from '@mantine/notifications'

/** Toasts, above the action bars at the bottom of pages. */
export function Notices() {
  return <Notifications position="bottom-left" autoClose={6000} limit={3} />
}
