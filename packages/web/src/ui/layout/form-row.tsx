import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './form-row.module.css'

/** Fields side by side with the button that sends them, which stays at their height when a message appears below one. */
export function FormRow({ children }: { children: ReactNode }) {
  return <Group className={classes.row}>{children}</Group>
}
