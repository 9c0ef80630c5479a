import type { ChangeRequestDetail, Flag, Project } from '@halyard/contract'
import { useMemo } from 'react'
import { type Draft, draftOf, draftToWire, emptyDraft } from '../../flags/editor/draft.ts'
import { EditorAside } from '../../flags/editor/editor-aside.tsx'
import { useDraftProblems } from '../../flags/editor/use-draft-problems.ts'
import type { Cohort } from '../../services/cohort-queries.ts'

interface Props {
  request: ChangeRequestDetail
  project: Project
  /** Undefined while it is loaded, and for a flag to be created. */
  flag: Flag | undefined
  flags: readonly Flag[]
  cohorts: readonly Cohort[]
}

const newFlagId = 0

/** What the request means for users, as its editor saw it. */
export function RequestImpact({ request, flag, ...others }: Props) {
  const { changes, resource_type, resource_id } = request
  const draft = useMemo(() => draftAfter(flag, changes), [flag, changes])
  const isShown = resource_type !== 'cohort' && (flag !== undefined || resource_id === null)
  return isShown && <DraftImpact draft={draft} flag={flag} {...others} />
}

function DraftImpact({ draft, flag, ...others }: Omit<Props, 'request'> & { draft: Draft }) {
  const edit = useMemo(() => ({ draft, broken: {} }), [draft])
  const checked = useDraftProblems({ ...others, edit, flagId: flag?.id ?? newFlagId, error: null })
  return <EditorAside project={others.project} draft={draft} before={flag} checked={checked} isReadOnly />
}

/** The flag as applying the request now would leave it. */
function draftAfter(flag: Flag | undefined, changes: ChangeRequestDetail['changes']): Draft {
  const after = Object.fromEntries(changes.flatMap(({ field, after }) => (field === null ? [] : [[field, after]])))
  return draftOf({ ...(flag ?? draftToWire(emptyDraft)), ...after } as Flag)
}
