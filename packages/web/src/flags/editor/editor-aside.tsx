import type { Project } from '@halyard/contract'
import { Stack } from '@mantine/core'
import { useMemo } from 'react'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import { Impact } from './impact.tsx'
import { Preview } from './preview.tsx'
import type { CheckedDraft } from './use-draft-problems.ts'

interface Props {
  project: Project
  draft: Draft
  /** The flag to compare with; undefined where there is nothing to compare. */
  flagId: number | undefined
  checked: CheckedDraft
  /** Nothing can be edited, so nothing is unsaved. */
  isReadOnly?: boolean
}

/** What the draft means for users. */
export function EditorAside({ project, draft, flagId, checked, isReadOnly = false }: Props) {
  // The conditions of an off flag have no impact yet; the one they will have is shown instead.
  const released = useMemo(() => (draft.active ? draft : { ...draft, active: true }), [draft])
  return (
    <Stack className={classes.aside as string}>
      <Impact
        projectId={String(project.id)}
        flagId={draft.active ? flagId : undefined}
        draft={released}
        isSound={checked.isSound}
        isOnceOn={!draft.active}
      />
      <Preview
        projectId={String(project.id)}
        draft={checked.definition}
        filters={draft.filters}
        definitions={checked.definitions}
        isReadOnly={isReadOnly}
      />
    </Stack>
  )
}
