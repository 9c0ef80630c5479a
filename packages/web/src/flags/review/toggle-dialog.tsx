import type { Flag } from '@halyard/contract'
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { draftOf } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import { describeState } from '../flag-summary.ts'
import type { SaveMode } from '../gate/save-mode.ts'
import { useGate } from '../gate/use-gate.ts'
import { useWording } from '../use-wording.ts'
import { ReviewDialog } from './review-dialog.tsx'

const nothing: readonly never[] = []

interface DialogProps {
  flag: Flag
  project: { readonly id: number | string; readonly group_types: Record<string, string> }
  onConfirm: (mode: SaveMode) => Promise<unknown>
  onClose: () => void
}

/** What turning a flag on or off changes, before it happens. */
export function ToggleDialog({ flag, project, onConfirm, onClose }: DialogProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const wording = useWording({ project, flags: nothing, cohorts: nothing })
  const after = { ...flag, active: !flag.active }
  const gate = useGate({ projectId: String(project.id), flag, patch: { active: after.active } })
  const draft = useMemo(() => draftOf({ ...flag, active: !flag.active }), [flag])
  const { text } = describeState(after, { t, percent, groupTypes: project.group_types })
  return (
    <ReviewDialog
      title={after.active ? t.flags.turnOn(flag.key) : t.flags.turnOff(flag.key)}
      changes={[{ field: 'active', before: flag.active, after: after.active }]}
      wording={wording}
      label={after.active ? t.flags.bulkOn : t.flags.bulkOff}
      isDangerous={!after.active}
      gate={gate}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      <Impact projectId={String(project.id)} flagId={flag.id} draft={draft} isSound />
    </ReviewDialog>
  )
}
