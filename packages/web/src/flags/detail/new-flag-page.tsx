import { routes } from '@halyard/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loading } from '../../ui/feedback/problems.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { type Draft, draftToWire, emptyDraft } from '../editor/draft.ts'
import { LeaveGuard } from '../editor/drafts/leave-guard.tsx'
import { draftId } from '../editor/drafts/unsaved-draft.ts'
import { useFlagDraft } from '../editor/drafts/use-flag-draft.ts'
import { FlagEditor } from '../editor/flag-editor.tsx'
import { writeFilters } from '../filters.ts'
import { cacheFlag } from '../flag-cache.ts'
import { useRelatedFlags } from '../use-related-flags.ts'

/** The id of an unsaved flag; the server assigns the real one. */
const noId = 0
const nothing = { version: 0, original: emptyDraft }

export function NewFlagPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/flags/new' })
  const project = useProject(projectId)
  const cohorts = useCohorts(projectId)
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const edit = useFlagDraft(draftId(projectId, 'new'), nothing)
  const flags = useRelatedFlags(projectId, writeFilters(edit.draft.filters))
  const create = useMutation({
    mutationFn: (draft: Draft) =>
      call(routes.flags.create, { params: { project_id: projectId }, body: draftToWire(draft) }),
    onSuccess: async flag => {
      cacheFlag(queries, projectId, flag)
      edit.discard()
      const there = { to: '/project/$projectId/flags/$flagId', params: { projectId, flagId: String(flag.id) } } as const
      await navigate({ ...there, ignoreBlocker: true })
      notify.success({
        message: t.editor.created(flag.key),
        next: { label: t.editor.showCode, go: () => navigate({ ...there, search: { tab: 'code' } }) },
      })
    },
  })
  return (
    <Page title={t.flags.create} intro={project?.name}>
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
          onSave={draft => create.mutate(draft)}
        />
      ) : (
        <Loading />
      )}
    </Page>
  )
}
