import { Alert } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { changeSentence, isPendingRamp, timeOf } from './scheduled-change.ts'
import { useScheduledChanges } from './use-schedule.ts'

/** The notice that a ramp will change the flag again; without a flag, or without a ramp, there is none. */
export function usePendingRamp(
  projectId: string,
  flagId: number | undefined,
): { readonly isLoading: boolean; readonly notice: ReactNode } {
  const t = useMessages()
  const { moment, percent } = useFormats()
  const schedule = useScheduledChanges(projectId, flagId)
  const ramp = schedule.data?.find(isPendingRamp)
  return {
    isLoading: schedule.isLoading,
    notice: ramp && (
      <Alert color="yellow">{t.schedule.rampPending(changeSentence(ramp, t, percent), moment(timeOf(ramp)))}</Alert>
    ),
  }
}
