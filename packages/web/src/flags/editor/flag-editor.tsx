import type { Flag, Project } from '@halyard/contract'
import { Alert, Stack } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import type { Cohort } from '../../services/cohort-queries.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { focusInvalidField } from '../../ui/layout/focus-invalid-field.ts'
import type { Filters } from '../filters.ts'
import { AdvancedSettings } from './advanced-settings.tsx'
import { Basics } from './basics.tsx'
import { Conditions } from './conditions/conditions.tsx'
import { propertyNames } from './conditions/property-names.ts'
import { usePersonPropertyNames } from './conditions/use-person-properties.ts'
import { changesOf, type Draft } from './draft.ts'
import { definitionsFor, draftDefinition, issuesOf } from './draft-definitions.ts'
import { problemsOf, unfilledOf } from './draft-problems.ts'
import classes from './editor.module.css'
import { type Editing, EditingContext } from './editor-context.ts'
import { EditorSection } from './editor-section.tsx'
import { Impact } from './impact.tsx'
import { Preview } from './preview.tsx'
import { SaveBar } from './save-bar.tsx'
import { type BrokenPayloads, hasBrokenPayload, PayloadEditor } from './variants/payload-editor.tsx'
import { VariantsEditor } from './variants/variants-editor.tsx'

interface Props {
  original: Draft
  flagId: number
  project: Project
  flags: readonly Flag[]
  cohorts: readonly Cohort[]
  isNew: boolean
  isReadOnly: boolean
  error: unknown
  isSaving: boolean
  /** Called on save: immediately for a new flag, before the review for an existing one. */
  onSave: (draft: Draft) => void
}

export function FlagEditor(props: Props) {
  const { original, flagId, project, flags, cohorts, error } = props
  const t = useMessages()
  const [draft, setDraft] = useState(original)
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const setFilters = (filters: Filters) => set({ filters })
  const [broken, setBroken] = useState<BrokenPayloads>({})
  const isBroken = hasBrokenPayload(draft.filters, broken)
  const isDifferent = useMemo(() => Object.keys(changesOf(draft, original)).length > 0, [draft, original])
  const isChanged = isDifferent || isBroken
  const discard = () => {
    setDraft(original)
    setBroken({})
  }
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
  const [attempts, setAttempts] = useState(0)
  const hasTried = attempts > 0
  const form = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    if (attempts > 0 || error !== null) focusInvalidField(form.current)
  }, [attempts, error])
  const leaving = useBlocker({
    shouldBlockFn: () => isChanged && !props.isSaving,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })

  const save = () => {
    setAttempts(count => count + 1)
    // A rejection by the server may be fixed by now; the engine's issues are current.
    const isFaulty = issuesOf(definition, definitions).length + unfilled.length > 0
    if (draft.key.trim() === '' || isFaulty || props.isReadOnly) return
    props.onSave(draft)
  }
  useHotkeys([['mod+S', save]], [])

  const seen = usePersonPropertyNames(String(project.id))
  const known = useMemo(() => [...new Set([...propertyNames(flags), ...seen])].sort(), [flags, seen])
  const editing = useMemo(
    (): Editing => ({
      isCohort: false,
      flagId,
      flags,
      cohorts,
      groupTypes: project.group_types,
      variantKeys: draft.filters.variants.map(({ key }) => key),
      groupTypeIndex: draft.filters.groupTypeIndex,
      propertyNames: known,
      problemsAt: path =>
        hasTried || error !== null
          ? problems.filter(problem => problem.path.startsWith(path)).map(({ message }) => message)
          : [],
    }),
    [flagId, flags, cohorts, project, known, draft.filters, problems, hasTried, error],
  )
  const isAtField = isProblem(error) && error.field !== null && ['key', 'name', 'tags'].includes(error.field)
  const stray = hasTried ? problems.filter(({ path }) => !/\[\d+\]/.test(path)) : []
  const keyMissing = hasTried && draft.key.trim() === '' ? t.editor.keyMissing : undefined

  const status =
    hasTried && problems.length > 0
      ? t.editor.issues(problems.length)
      : isChanged && !props.isNew
        ? t.editor.unsaved
        : ''

  return (
    <EditingContext.Provider value={editing}>
      <div className={classes.columns}>
        <fieldset ref={form} disabled={props.isReadOnly} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
          {!isAtField && error !== null && !(isProblem(error) && error.field === 'filters') && (
            <ProblemAlert error={error} />
          )}
          {props.isReadOnly && <Alert color="gray">{t.flags.readOnly}</Alert>}
          <Basics
            draft={draft}
            isNew={props.isNew}
            savedKey={original.key}
            error={error}
            keyProblem={keyMissing}
            onChange={set}
          />
          <EditorSection title={t.editor.flagType}>
            <VariantsEditor filters={draft.filters} onChange={setFilters} />
          </EditorSection>
          <EditorSection title={t.editor.conditions} intro={t.editor.conditionsIntro}>
            <Conditions filters={draft.filters} onChange={setFilters} groupTypes={project.group_types} />
          </EditorSection>
          <EditorSection title={t.editor.payloads} intro={t.editor.payloadsIntro}>
            <PayloadEditor filters={draft.filters} broken={broken} onChange={setFilters} onBroken={setBroken} />
          </EditorSection>
          <AdvancedSettings draft={draft} onChange={set} />
          {stray.length > 0 && (
            <Alert color="red" mt="md" role="alert">
              {stray.map(({ message }) => message).join(' ')}
            </Alert>
          )}
        </fieldset>
        <Stack className={classes.aside as string}>
          <Impact
            projectId={String(project.id)}
            flagId={props.isNew ? undefined : flagId}
            draft={draft}
            isSound={unsound.length === 0}
          />
          <Preview draft={definition} filters={draft.filters} definitions={definitions} />
        </Stack>
      </div>
      {(isChanged || props.isNew) && !props.isReadOnly && (
        <SaveBar isNew={props.isNew} isSaving={props.isSaving} status={status} onDiscard={discard} onSave={save} />
      )}
      <ConfirmDialog
        isOpen={leaving.status === 'blocked'}
        title={t.editor.unsaved}
        question={t.editor.leave}
        label={t.editor.discard}
        cancelLabel={t.editor.keepEditing}
        onConfirm={() => leaving.proceed?.()}
        onClose={() => leaving.reset?.()}
      />
    </EditingContext.Provider>
  )
}
