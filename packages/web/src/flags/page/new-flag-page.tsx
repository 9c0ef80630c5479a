import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { canWrite } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loading } from '../../ui/feedback/problems.tsx'
import { ViewOnly } from '../../ui/feedback/view-only.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { draftToWire, emptyDraft } from '../editor/draft.ts'
import { LeaveGuard } from '../editor/drafts/leave-guard.tsx'
import { draftId } from '../editor/drafts/unsaved-draft.ts'
import { useFlagDraft } from '../editor/drafts/use-flag-draft.ts'
import { FlagEditor } from '../editor/flag-editor.tsx'
import { writeFilters } from '../filters.ts'
import { cacheFlag } from '../flag-cache.ts'
import { createdNotice } from '../flag-tabs.ts'
import { plainSave, type SaveMode } from '../gate/save-mode.ts'
import { useGate } from '../gate/use-gate.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { draftChanges } from '../review/draft-changes.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { saveFlag } from '../save-flag.ts'
import { useRelatedFlags } from '../use-related-flags.ts'
import { useWording } from '../use-wording.ts'

/** The id of an unsaved flag; the server assigns the real one. */
const noId = 0
const noPatch = {}
const noProject = { group_types: {} }
const nothing = { version: 0, original: emptyDraft }

export function NewFlagPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/flags/new' })
  const project = useProject(projectId)
  const parents = [{ label: t.flags.title, to: `/project/${projectId}/flags` }]
  return (
    <Page title={t.flags.create} parents={parents}>
      {project && !canWrite(project.effective_membership_level) ? <ViewOnly /> : <NewFlag projectId={projectId} />}
    </Page>
  )
}

function NewFlag({ projectId }: { projectId: string }) {
  const t = useMessages()
  const project = useProject(projectId)
  const cohorts = useCohorts(projectId)
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const edit = useFlagDraft(draftId(projectId, 'new'), nothing)
  const flags = useRelatedFlags(projectId, writeFilters(edit.draft.filters))
  const wording = useWording({ project: project ?? noProject, flags, cohorts })
  const announceRequest = useRequestedNotice(projectId)
  const isNamed = edit.draft.key.trim() !== ''
  const patch = useMemo(() => draftToWire(edit.draft), [edit.draft])
  const gate = useGate({ projectId, flag: undefined, patch: isNamed ? patch : noPatch })
  const [isReviewing, setIsReviewing] = useState(false)
  const create = useMutation({
    mutationFn: (mode: SaveMode) => saveFlag(call, { projectId, flagId: undefined, patch }, mode),
    onSuccess: async outcome => {
      if (outcome.kind === 'requested') {
        edit.discard()
        await navigate({ to: '/project/$projectId/flags', params: { projectId }, ignoreBlocker: true })
        return announceRequest(outcome.request)
      }
      const { flag } = outcome
      cacheFlag(queries, projectId, flag)
      edit.discard()
      const there = { to: '/project/$projectId/flags/$flagId', params: { projectId, flagId: String(flag.id) } } as const
      await navigate({ ...there, ignoreBlocker: true })
      notify.success({
        id: createdNotice(flag.id),
        message: t.editor.created(flag.key),
        next: { label: t.editor.showCode, go: () => navigate({ ...there, search: { tab: 'code' } }) },
      })
    },
  })
  return (
    <>
      <LeaveGuard isChanged={edit.isChanged} onDiscard={edit.discard} />
      {project ? (
        <FlagEditor
          edit={edit}
          flagId={noId}
          project={project}
          flags={flags}
          cohorts={cohorts}
          isNew
          error={create.error}
          isSaving={create.isPending || create.isSuccess}
          gate={gate}
          onSave={() =>
            gate.kind === 'approval' || gate.kind === 'frozen' ? setIsReviewing(true) : create.mutate(plainSave)
          }
        />
      ) : (
        <Loading />
      )}
      {isReviewing && (
        <ReviewDialog
          title={t.editor.reviewTitle}
          changes={draftChanges(edit.draft, emptyDraft)}
          wording={wording}
          label={t.editor.createFlag}
          cancelLabel={t.editor.keepEditing}
          gate={gate}
          onConfirm={mode => create.mutateAsync(mode)}
          onClose={() => setIsReviewing(false)}
        />
      )}
    </>
  )
}
