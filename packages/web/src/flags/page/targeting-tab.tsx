import { routes } from '@halyard/contract'
import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { changesOf } from '../editor/draft.ts'
import type { FlagDraft } from '../editor/drafts/use-flag-draft.ts'
import { FlagEditor } from '../editor/flag-editor.tsx'
import { Impact } from '../editor/impact.tsx'
import { writeFilters } from '../filters.ts'
import { cacheFlag } from '../flag-cache.ts'
import type { Wording } from '../flag-sentences.ts'
import type { TabProps } from '../flag-tabs.ts'
import type { Gate } from '../gate/gate.ts'
import type { SaveMode } from '../gate/save-mode.ts'
import { useGate } from '../gate/use-gate.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { useVersionAuthor } from '../history/use-version-author.ts'
import { ConflictDialog } from '../review/conflict-dialog.tsx'
import { draftChanges } from '../review/draft-changes.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { saveFlag } from '../save-flag.ts'
import { usePendingRamp } from '../schedule/use-pending-ramp.tsx'
import { useRelatedFlags } from '../use-related-flags.ts'
import { useWording } from '../use-wording.ts'
import { FlagSummary } from './flag-summary-view.tsx'

interface Props extends TabProps {
  readonly edit: FlagDraft
}

export function TargetingTab({ edit, ...tabProps }: Props) {
  const { flag } = tabProps
  return flag.can_edit && !flag.deleted ? <Editor edit={edit} {...tabProps} /> : <FlagSummary {...tabProps} />
}

function Editor({ edit, ...saved }: Props) {
  const { flag, project, cohorts } = saved
  // The edit may depend on other flags than the saved version.
  const flags = useRelatedFlags(String(project.id), writeFilters(edit.draft.filters))
  const referenced = { ...saved, flags: [...saved.flags, ...flags] }
  const t = useMessages()
  const wording = useWording(referenced)
  const projectId = String(project.id)
  const [dialog, setDialog] = useState<'review' | 'conflict'>()
  const close = () => setDialog(undefined)
  const { draft, original } = edit
  const gate = useGate({ projectId, flag, patch: changesOf(draft, original) })
  const save = useSaveDraft(edit, { projectId, flagId: flag.id, onFieldError: close })
  const isConflict = isStale(save.error)
  const hasCollisions = edit.collisions.length > 0
  const author = useVersionAuthor(saved, hasCollisions)

  return (
    <>
      {hasCollisions && (
        <Alert color="yellow" mb="md" role="alert">
          <Group justify="space-between">
            {author ? t.editor.conflictBannerBy(author.name, author.time) : t.editor.conflictBanner}
            <Button size="xs" variant="default" onClick={() => setDialog('conflict')}>
              {t.editor.resolve}
            </Button>
          </Group>
        </Alert>
      )}
      <FlagEditor
        edit={edit}
        flagId={flag.id}
        project={project}
        flags={flags}
        cohorts={cohorts}
        isNew={false}
        error={isConflict ? null : save.error}
        isSaving={save.isPending}
        gate={gate}
        onSave={() => setDialog(hasCollisions ? 'conflict' : 'review')}
      />
      {dialog === 'conflict' && hasCollisions && (
        <ConflictDialog
          collisions={edit.collisions}
          wording={wording}
          author={author}
          onDecide={choices => {
            edit.decide(choices)
            setDialog('review')
          }}
          onDiscard={() => {
            edit.discard()
            close()
          }}
          onClose={close}
        />
      )}
      {dialog === 'review' && !hasCollisions && (
        <SaveReview
          edit={edit}
          flag={flag}
          project={project}
          wording={wording}
          gate={gate}
          onConfirm={mode => save.mutateAsync(mode)}
          onClose={close}
        />
      )}
    </>
  )
}

/** Someone else has saved the flag meanwhile. A freeze has the same status. */
const isStale = (error: unknown): boolean => isProblem(error) && error.status === 409 && error.code === 'conflict'

interface ReviewProps extends Pick<TabProps, 'flag' | 'project'> {
  readonly edit: FlagDraft
  readonly wording: Wording
  readonly gate: Gate
  readonly onConfirm: (mode: SaveMode) => Promise<unknown>
  readonly onClose: () => void
}

/** The changes, what they do to people, and a ramp that will change the flag again. */
function SaveReview({ edit, flag, project, wording, gate, onConfirm, onClose }: ReviewProps) {
  const t = useMessages()
  const ramp = usePendingRamp(String(project.id), flag.id)
  const { draft, original } = edit
  return (
    <ReviewDialog
      title={t.editor.reviewTitle}
      changes={draftChanges(draft, original)}
      wording={wording}
      label={t.common.save}
      cancelLabel={t.editor.keepEditing}
      gate={gate}
      isLoading={ramp.isLoading}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {edit.isMerged && <Text size="sm">{t.editor.merged}</Text>}
      {ramp.notice}
      {changesOf(draft, original).filters !== undefined && (
        <Impact projectId={String(project.id)} flagId={flag.id} draft={draft} isSound />
      )}
    </ReviewDialog>
  )
}

interface SaveOptions {
  readonly projectId: string
  readonly flagId: number
  /** An error of a field is shown there. */
  readonly onFieldError: () => void
}

function useSaveDraft(edit: FlagDraft, { projectId, flagId, onFieldError }: SaveOptions) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const announceRequest = useRequestedNotice(projectId)
  const params = { project_id: projectId, id: String(flagId) }
  return useMutation({
    mutationFn: (mode: SaveMode) => {
      const patch = { ...changesOf(edit.draft, edit.original), version: edit.version }
      return saveFlag(call, { projectId, flagId, patch }, mode)
    },
    onSuccess: outcome => {
      if (outcome.kind === 'requested') {
        edit.discard()
        return announceRequest(outcome.request)
      }
      const saved = outcome.flag
      cacheFlag(queries, projectId, saved)
      queries.invalidateQueries({ queryKey: ['flag-history', projectId, String(saved.id)] })
      edit.restart(saved)
      notify.success({ message: t.editor.saved })
    },
    onError: async error => {
      if (!isProblem(error)) return
      // The newer version is merged into the edit, or collides with it; either way it is reviewed again.
      if (isStale(error)) cacheFlag(queries, projectId, await call(routes.flags.get, { params }))
      else if (error.field !== null) onFieldError()
    },
  })
}
