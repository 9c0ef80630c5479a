import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './form-row.module.css'

/** Fields in a row with the submit button, which stays aligned when an error appears below a field. */
export function FormRow({ children }: { children: ReactNode }) {
  return <Group className={classes.row}>{children}</Group>
}
