import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import type { Gate } from './gate.ts'
import type { SaveMode } from './save-mode.ts'
import { useCanBreakGlass } from './use-can-break-glass.ts'

export interface SaveChoice {
  readonly mode: SaveMode
  /** What the user can say about the save. */
  readonly fields: ReactNode
  /** Undefined: the ordinary label of the button. */
  readonly label: string | undefined
  readonly isBlocked: boolean
  readonly isEmergency: boolean
}

const titleCharactersMax = 200
const reasonCharactersMax = 2000

/** How the user saves what the gate holds: with a note, as a request, or as an emergency. */
export function useSaveMode(gate: Gate): SaveChoice {
  const t = useMessages()
  const { moment } = useFormats()
  const canBreakGlass = useCanBreakGlass(gate)
  const [note, setNote] = useState('')
  const [title, setTitle] = useState('')
  const [applyAt, setApplyAt] = useState('')
  const [emergency, setEmergency] = useState('')
  const [isBreaking, setIsBreaking] = useState(false)
  const isGated = gate.kind === 'approval' || gate.kind === 'frozen'
  const isEmergency = isGated && isBreaking

  if (isEmergency) {
    const mode = { kind: 'emergency', reason: emergency } as const
    const fields = <EmergencyFields reason={emergency} onChange={setEmergency} onCancel={() => setIsBreaking(false)} />
    return { mode, fields, label: t.gate.saveNow, isBlocked: emergency.trim() === '', isEmergency }
  }
  const breakGlass = isGated && canBreakGlass && <BreakGlassButton onClick={() => setIsBreaking(true)} />
  if (gate.kind === 'frozen') {
    const mode = { kind: 'save', note } as const
    const fields = (
      <Stack gap="xs">
        <Alert color="blue">
          {t.freezes.frozen(moment(gate.until), gate.reason)} {gate.canSwitchOff && t.freezes.canSwitchOff}
        </Alert>
        {breakGlass}
      </Stack>
    )
    return { mode, fields, label: t.freezes.frozenUntil(moment(gate.until)), isBlocked: true, isEmergency }
  }
  if (gate.kind === 'approval') {
    const mode = { kind: 'request', title, reason: note, applyAt } as const
    const fields = (
      <Stack gap="xs">
        <RequestFields {...mode} onTitle={setTitle} onReason={setNote} onApplyAt={setApplyAt} />
        {breakGlass}
      </Stack>
    )
    return { mode, fields, label: t.gate.request, isBlocked: false, isEmergency }
  }
  const fields = (
    <TextInput
      label={t.gate.note}
      placeholder={t.gate.noteHint}
      maxLength={reasonCharactersMax}
      value={note}
      onChange={event => setNote(event.currentTarget.value)}
    />
  )
  return { mode: { kind: 'save', note }, fields, label: undefined, isBlocked: false, isEmergency }
}

interface EmergencyProps {
  reason: string
  onChange: (reason: string) => void
  onCancel: () => void
}

function EmergencyFields({ reason, onChange, onCancel }: EmergencyProps) {
  const t = useMessages()
  return (
    <Alert color="red" title={t.gate.breakGlass}>
      <Stack gap="xs">
        <Text size="sm">{t.gate.breakGlassIntro}</Text>
        <Textarea
          label={t.gate.breakGlassReason}
          required
          withAsterisk={false}
          autosize
          minRows={2}
          maxLength={1000}
          value={reason}
          onChange={event => onChange(event.currentTarget.value)}
        />
        <Group>
          <Button size="xs" variant="default" onClick={onCancel}>
            {t.gate.keepWaiting}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function BreakGlassButton({ onClick }: { onClick: () => void }) {
  const t = useMessages()
  return (
    <Group>
      <Button size="compact-sm" variant="subtle" color="red" onClick={onClick}>
        {t.gate.breakGlass}
      </Button>
    </Group>
  )
}

interface RequestProps {
  title: string
  reason: string
  applyAt: string
  onTitle: (title: string) => void
  onReason: (reason: string) => void
  onApplyAt: (applyAt: string) => void
}

function RequestFields({ title, reason, applyAt, onTitle, onReason, onApplyAt }: RequestProps) {
  const t = useMessages()
  return (
    <>
      <Text size="sm">{t.gate.needsApproval}</Text>
      <TextInput
        label={t.gate.requestTitle}
        maxLength={titleCharactersMax}
        value={title}
        onChange={event => onTitle(event.currentTarget.value)}
      />
      <Textarea
        label={t.gate.reason}
        autosize
        minRows={2}
        maxLength={reasonCharactersMax}
        value={reason}
        onChange={event => onReason(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={t.gate.applyAt}
        description={t.gate.applyAtHint}
        value={applyAt}
        onChange={event => onApplyAt(event.currentTarget.value)}
        maw={280}
      />
    </>
  )
}
