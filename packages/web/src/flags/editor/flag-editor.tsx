import type { Flag, Project } from '@halyard/contract'
import { Alert, Stack } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useEffect, useMemo, useRef, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { type Gate, openGate } from '../../change-control/gate/gate.ts'
import { useMessages } from '../../i18n/language.tsx'
import type { Cohort } from '../../services/cohort-queries.ts'
import { focusInvalidField } from '../../ui/layout/focus-invalid-field.ts'
import type { Filters } from '../filters.ts'
import { AdvancedSettings } from './advanced-settings.tsx'
import { Basics } from './basics.tsx'
import { Conditions } from './conditions/conditions.tsx'
import { propertyNames } from './conditions/property-names.ts'
import type { Draft } from './draft.ts'
import { definitionsFor, draftDefinition, issuesOf } from './draft-definitions.ts'
import { problemsOf, unfilledOf } from './draft-problems.ts'
import type { FlagDraft } from './drafts/use-flag-draft.ts'
import classes from './editor.module.css'
import { type Editing, EditingContext } from './editor-context.ts'
import { EditorSection } from './editor-section.tsx'
import { isValidKey } from './flag-key.ts'
import { Impact } from './impact.tsx'
import { Preview } from './preview.tsx'
import { SaveBar } from './save-bar.tsx'
import { hasBrokenPayload } from './variants/payload-editor.tsx'
import { VariantsEditor } from './variants/variants-editor.tsx'

interface Props {
  edit: FlagDraft
  flagId: number
  project: Project
  flags: readonly Flag[]
  cohorts: readonly Cohort[]
  isNew: boolean
  error: unknown
  isSaving: boolean
  gate?: Gate
  /** Called on save: immediately for a new flag, before the review for an existing one. */
  onSave: (draft: Draft) => void
}

export function FlagEditor(props: Props) {
  const { edit, flagId, project, flags, cohorts, error } = props
  const { draft, original, broken, isChanged } = edit
  const t = useMessages()
  const set = (change: Partial<Draft>) => edit.setDraft(old => ({ ...old, ...change }))
  const setFilters = (filters: Filters) => set({ filters })
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
  const [attempts, setAttempts] = useState(0)
  const hasTried = attempts > 0
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (attempts > 0 || error !== null) focusInvalidField(form.current)
  }, [attempts, error])
  const isKeyInvalid = !isValidKey(draft.key) && draft.key !== original.key
  const isKeyMissing = draft.key.trim() === ''

  const save = () => {
    setAttempts(count => count + 1)
    // A rejection by the server may be fixed by now; the engine's issues are current.
    const isFaulty = issuesOf(definition, definitions).length + unfilled.length > 0
    if (isKeyMissing || isKeyInvalid || isFaulty || props.isSaving) return
    props.onSave(draft)
  }
  useHotkeys([['mod+S', save]], [])
  const discard = () => {
    setAttempts(0)
    edit.discard()
  }

  const namesInUse = useMemo(() => propertyNames(flags), [flags])
  const editing = useMemo(
    (): Editing => ({
      isCohort: false,
      flagId,
      projectId: String(project.id),
      flags,
      cohorts,
      groupTypes: project.group_types,
      variantKeys: draft.filters.variants.map(({ key }) => key),
      groupTypeIndex: draft.filters.groupTypeIndex,
      propertyNames: namesInUse,
      problemsAt: path =>
        hasTried || error !== null
          ? problems.filter(problem => problem.path.startsWith(path)).map(({ message }) => message)
          : [],
    }),
    [flagId, flags, cohorts, project, namesInUse, draft.filters, problems, hasTried, error],
  )
  const stray = hasTried ? problems.filter(({ path }) => !/\[\d+\]/.test(path)) : []
  const keyProblem = isKeyInvalid ? t.editor.keyInvalid : hasTried && isKeyMissing ? t.editor.keyMissing : undefined
  const status =
    hasTried && problems.length > 0
      ? t.editor.issues(problems.length)
      : edit.isMerged
        ? t.editor.merged
        : isChanged && !props.isNew
          ? t.editor.unsaved
          : ''
  // The conditions of an off flag have no impact yet; the one they will have is shown instead.
  const released = useMemo(() => (draft.active ? draft : { ...draft, active: true }), [draft])
  const payloads = { filters: draft.filters, broken, onChange: setFilters, onBroken: edit.setBroken }

  return (
    <EditingContext.Provider value={editing}>
      <div className={classes.columns}>
        <div ref={form} className={classes.form}>
          {props.isNew && (
            <Basics draft={draft} isNew savedKey={original.key} error={error} keyProblem={keyProblem} onChange={set} />
          )}
          <EditorSection title={t.editor.conditions} intro={t.editor.conditionsIntro}>
            <Conditions filters={draft.filters} onChange={setFilters} groupTypes={project.group_types} />
          </EditorSection>
          <EditorSection title={t.editor.flagType} intro={t.editor.payloadsIntro}>
            <VariantsEditor {...payloads} />
          </EditorSection>
          {!props.isNew && (
            <EditorSection title={t.editor.details}>
              <Basics
                draft={draft}
                isNew={false}
                savedKey={original.key}
                error={error}
                keyProblem={keyProblem}
                onChange={set}
              />
            </EditorSection>
          )}
          <AdvancedSettings draft={draft} onChange={set} />
          {stray.length > 0 && (
            <Alert color="red" mt="md" role="alert">
              {stray.map(({ message }) => message).join(' ')}
            </Alert>
          )}
        </div>
        <Stack className={classes.aside as string}>
          <Impact
            projectId={String(project.id)}
            flagId={props.isNew || !draft.active ? undefined : flagId}
            draft={released}
            isSound={unsound.length === 0}
            isOnceOn={!draft.active}
          />
          <Preview
            projectId={String(project.id)}
            draft={definition}
            filters={draft.filters}
            definitions={definitions}
          />
        </Stack>
      </div>
      {(isChanged || props.isNew) && (
        <SaveBar
          isNew={props.isNew}
          isSaving={props.isSaving}
          gate={props.gate ?? openGate}
          status={status}
          error={isShownAtField(error) ? null : error}
          onDiscard={discard}
          onSave={save}
        />
      )}
    </EditingContext.Provider>
  )
}

const isShownAtField = (error: unknown): boolean =>
  isProblem(error) && error.field !== null && ['key', 'name', 'tags', 'filters'].includes(error.field)
