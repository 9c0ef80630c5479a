import { type FlagVersion, type FlagWrite, routes } from '@halyard/contract'
import { useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { draftOf } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { type SaveMode, saveHeaders } from '../gate/save-mode.ts'
import { useGate } from '../gate/use-gate.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { savedOrRequested, saveFlag } from '../save-flag.ts'
import { useWording } from '../use-wording.ts'
import type { FieldChange } from './change-list.tsx'
import { useRevert } from './use-revert.ts'
import { useVersionDifference } from './use-version-difference.ts'

interface Props extends TabProps {
  readonly version: FlagVersion
  readonly onClose: () => void
}

/** Shows what restoring a version changes and the impact, restores it, and offers undo. */
export function RestoreVersion({ version: { version, content }, onClose, ...tabProps }: Props) {
  const { flag, project } = tabProps
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const wording = useWording(tabProps)
  const params = { project_id: String(project.id), id: String(flag.id) }
  const difference = useVersionDifference({ params, from: flag.version, to: version })
  const changes = difference.data?.changes?.filter(
    (change): change is typeof change & FieldChange => change.field !== null,
  )
  const patch = Object.fromEntries((changes ?? []).map(({ field, after }) => [field, after])) as FlagWrite
  const gate = useGate({ projectId: params.project_id, flag, patch })
  const { settle, revertTo } = useRevert(params.project_id, flag.id)
  const before = flag.version
  const restore = async (mode: SaveMode) => {
    const { kind } = await settle(
      mode.kind === 'request'
        ? saveFlag(call, { projectId: params.project_id, flagId: flag.id, patch }, mode)
        : savedOrRequested(
            call(routes.flagVersions.restore, { params, body: { version }, headers: saveHeaders(mode) }),
          ),
    )
    if (kind === 'saved') {
      notify.success({ message: t.versions.restored(version), onUndo: () => revertTo(before) })
    }
  }
  const draft = useMemo(() => draftOf({ ...flag, ...content }), [flag, content])
  if (!changes) return null
  return (
    <ReviewDialog
      title={t.versions.reviewRestore(version)}
      changes={changes}
      gate={gate}
      wording={wording}
      label={t.versions.confirmRestore}
      onConfirm={restore}
      onClose={onClose}
    >
      <Impact projectId={params.project_id} flagId={flag.id} draft={draft} isSound />
    </ReviewDialog>
  )
}
