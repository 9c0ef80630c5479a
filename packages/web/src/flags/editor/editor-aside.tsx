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
  /** The flag as it is now; undefined where there is nothing to compare. */
  before: { readonly id: number; readonly active: boolean } | undefined
  checked: CheckedDraft
  /** Nothing can be edited, so nothing is unsaved. */
  isReadOnly?: boolean
}

/** What a change means for users: who gains and loses, and what one of them gets. The same for editors and approvers. */
export function EditorAside({ project, draft, before, checked, isReadOnly = false }: Props) {
  // The conditions of a flag that stays off have no impact yet; the one they will have is shown instead.
  const isOnceOn = !draft.active && !before?.active
  const released = useMemo(() => (isOnceOn ? { ...draft, active: true } : draft), [draft, isOnceOn])
  return (
    <Stack className={classes.aside as string}>
      <Impact
        projectId={String(project.id)}
        flagId={isOnceOn ? undefined : before?.id}
        draft={released}
        isSound={checked.isSound}
        isOnceOn={isOnceOn}
        mayShrink
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
