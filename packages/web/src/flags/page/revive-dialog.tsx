import type { Flag } from '@halyard/contract'
import { useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { draftOf } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import type { TabProps } from '../flag-tabs.ts'
import type { SaveMode } from '../gate/save-mode.ts'
import { useGate } from '../gate/use-gate.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { useWording } from '../use-wording.ts'

interface Props {
  flag: Flag
  project: TabProps['project']
  /** What it stops being. */
  field: 'deleted' | 'archived'
  onConfirm: (mode: SaveMode) => Promise<unknown>
  onClose: () => void
}

const nothing: readonly never[] = []
const noPatch = {}

/** Restores a deleted flag or unarchives one: it is evaluated again, so it asks with the impact. */
export function ReviveDialog({ flag, project, field, onConfirm, onClose }: Props) {
  const t = useMessages()
  const wording = useWording({ project, flags: nothing, cohorts: nothing })
  const projectId = String(project.id)
  const gate = useGate({ projectId, flag, patch: field === 'deleted' ? { deleted: false } : noPatch })
  const draft = useMemo(() => draftOf(flag), [flag])
  return (
    <ReviewDialog
      title={field === 'deleted' ? t.flags.restoreTitle(flag.key) : t.archive.unarchiveTitle(flag.key)}
      changes={[{ field, before: true, after: false }]}
      wording={wording}
      label={field === 'deleted' ? t.flags.bulkRestore : t.archive.unarchive}
      gate={gate}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <Impact projectId={projectId} flagId={undefined} draft={draft} isSound />
    </ReviewDialog>
  )
}
