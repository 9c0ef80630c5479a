import type { Flag, Project } from '@halyard/contract'
import { useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import type { Cohort } from '../../services/cohort-queries.ts'
import { definitionsFor, draftDefinition, issuesOf } from './draft-definitions.ts'
import { problemsOf, unfilledOf } from './draft-problems.ts'
import type { FlagDraft } from './drafts/use-flag-draft.ts'
import { hasBrokenPayload } from './variants/payload-editor.tsx'

interface Options {
  readonly edit: Pick<FlagDraft, 'draft' | 'broken'>
  readonly flagId: number
  readonly project: Project
  readonly flags: readonly Flag[]
  readonly cohorts: readonly Cohort[]
  /** The server's response to the last save. */
  readonly error: unknown
}

export type CheckedDraft = ReturnType<typeof useDraftProblems>

/** What is wrong with a draft, as the engine, the form and the server see it. */
export function useDraftProblems({ edit: { draft, broken }, flagId, project, flags, cohorts, error }: Options) {
  const t = useMessages()
  const isBroken = hasBrokenPayload(draft.filters, broken)
  const definition = useMemo(() => draftDefinition(draft, flagId), [draft, flagId])
  const definitions = useMemo(
    () =>
      definitionsFor(
        definition,
        flags,
        cohorts.map(({ id, name, is_static, filters }) => ({ id, name, isStatic: is_static, filters })),
        project,
      ),
    [definition, flags, cohorts, project],
  )
  const unsound = useMemo(() => problemsOf(t, definition, definitions, error), [t, definition, definitions, error])
  const unfilled = useMemo(() => {
    const notJson = isBroken ? [{ path: 'filters.payloads', message: t.editor.invalidPayload }] : []
    return [...unfilledOf(t, draft.filters), ...notJson]
  }, [t, draft.filters, isBroken])
  const problems = useMemo(
    // Missing input has clearer messages here than in the engine, which reports it too.
    () => [...unfilled, ...unsound.filter(({ path }) => unfilled.every(other => other.path !== path))],
    [unsound, unfilled],
  )
  /** A rejection by the server may be fixed by now; the engine's issues are current. */
  const hasIssues = () => issuesOf(definition, definitions).length + unfilled.length > 0
  return { definition, definitions, problems, isSound: unsound.length === 0, hasIssues }
}
