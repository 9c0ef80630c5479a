import { Text } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { TextField } from '../../ui/form/text-field.tsx'

interface Props {
  /** Null when it is applied once it is approved. */
  applyAt: string | null
  onReschedule: (applyAt: string | null) => Promise<unknown>
  onClose: () => void
}

/** Changes when a request is applied. */
export function RescheduleDialog({ applyAt, onReschedule, onClose }: Props) {
  const t = useMessages()
  const [time, setTime] = useState(() => (applyAt === null ? '' : localInput(applyAt)))
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const submit = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onReschedule(time === '' ? null : new Date(time).toISOString())
      onClose()
    } catch (problem) {
      setError(problem)
      setIsBusy(false)
    }
  }
  return (
    <FormDialog
      title={t.requests.rescheduleTitle}
      label={t.requests.reschedule}
      error={error}
      isBusy={isBusy}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        type="datetime-local"
        data-autofocus
        label={t.gate.applyAt}
        description={t.gate.applyAtHint}
        value={time}
        onChange={event => setTime(event.currentTarget.value)}
      />
      <Text size="sm">{t.requests.rescheduleHint}</Text>
    </FormDialog>
  )
}

/** Local time, in the format of the input. */
function localInput(instant: string): string {
  const date = new Date(instant)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
