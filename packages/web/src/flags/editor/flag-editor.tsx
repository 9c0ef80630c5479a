import type { Flag, Project } from '@halyard/contract'
import { Alert } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useEffect, useMemo, useRef, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import type { Cohort } from '../../services/cohort-queries.ts'
import { focusInvalidField } from '../../ui/layout/focus-invalid-field.ts'
import type { Filters } from '../filters.ts'
import { type Gate, openGate } from '../gate/gate.ts'
import { AdvancedSettings } from './advanced-settings.tsx'
import { Basics } from './basics.tsx'
import { Conditions } from './conditions/conditions.tsx'
import { propertyNames } from './conditions/property-names.ts'
import type { Draft } from './draft.ts'
import type { DraftProblem } from './draft-problems.ts'
import type { FlagDraft } from './drafts/use-flag-draft.ts'
import classes from './editor.module.css'
import { EditorAside } from './editor-aside.tsx'
import { type Editing, EditingContext } from './editor-context.ts'
import { EditorSection } from './editor-section.tsx'
import { isValidKey } from './flag-key.ts'
import { SaveBar } from './save-bar.tsx'
import { useDraftProblems } from './use-draft-problems.ts'
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
  const { edit, error, isNew, isSaving } = props
  const { draft, original, isChanged } = edit
  const t = useMessages()
  const checked = useDraftProblems(props)
  const { problems } = checked
  const [attempts, setAttempts] = useState(0)
  const hasTried = attempts > 0
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (attempts > 0 || error !== null) focusInvalidField(form.current)
  }, [attempts, error])
  const isKeyInvalid = !isValidKey(draft.key) && draft.key !== original.key
  const isKeyMissing = draft.key.trim() === ''
  const keyProblem = isKeyInvalid ? t.editor.keyInvalid : hasTried && isKeyMissing ? t.editor.keyMissing : undefined

  const save = () => {
    setAttempts(count => count + 1)
    if (isKeyMissing || isKeyInvalid || checked.hasIssues() || isSaving) return
    props.onSave(draft)
  }
  useHotkeys([['mod+S', save]], [])
  const discard = () => {
    setAttempts(0)
    edit.discard()
  }
  const editing = useEditing(props, hasTried || error !== null ? problems : noProblems)
  const notice = edit.isMerged ? t.editor.merged : isChanged && !isNew ? t.editor.unsaved : ''

  return (
    <EditingContext.Provider value={editing}>
      <div className={classes.columns}>
        <div ref={form} className={classes.form}>
          <EditorFields {...props} keyProblem={keyProblem} problems={hasTried ? problems : noProblems} />
        </div>
        <EditorAside
          project={props.project}
          draft={draft}
          // Without a change there is nothing to compare, and no space is reserved for it.
          before={isNew || !isChanged ? undefined : { id: props.flagId, active: original.active }}
          checked={checked}
        />
      </div>
      {(isChanged || isNew) && (
        <SaveBar
          isNew={isNew}
          isSaving={isSaving}
          gate={props.gate ?? openGate}
          status={hasTried && problems.length > 0 ? t.editor.issues(problems.length) : notice}
          error={isShownAtField(error) ? null : error}
          onDiscard={discard}
          onSave={save}
        />
      )}
    </EditingContext.Provider>
  )
}

const noProblems: readonly DraftProblem[] = []

/** What the fields of the editor need to know of each other. */
function useEditing({ edit: { draft }, flagId, project, flags, cohorts }: Props, shown: readonly DraftProblem[]) {
  const namesInUse = useMemo(() => propertyNames(flags), [flags])
  return useMemo(
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
      problemsAt: path => shown.filter(problem => problem.path.startsWith(path)).map(({ message }) => message),
    }),
    [flagId, flags, cohorts, project, namesInUse, draft.filters, shown],
  )
}

interface FieldsProps extends Props {
  keyProblem: string | undefined
  problems: readonly DraftProblem[]
}

function EditorFields({ edit, project, isNew, error, keyProblem, problems }: FieldsProps) {
  const { draft, original, broken } = edit
  const t = useMessages()
  const set = (change: Partial<Draft>) => edit.setDraft(old => ({ ...old, ...change }))
  const setFilters = (filters: Filters) => set({ filters })
  const basics = (
    <Basics draft={draft} isNew={isNew} savedKey={original.key} error={error} keyProblem={keyProblem} onChange={set} />
  )
  // Those without an index belong to no field.
  const stray = problems.filter(({ path }) => !/\[\d+\]/.test(path))
  return (
    <>
      {isNew && basics}
      <EditorSection title={t.editor.conditions} intro={t.editor.conditionsIntro}>
        <Conditions filters={draft.filters} onChange={setFilters} groupTypes={project.group_types} />
      </EditorSection>
      <EditorSection title={t.editor.flagType} intro={t.editor.payloadsIntro}>
        <VariantsEditor filters={draft.filters} broken={broken} onChange={setFilters} onBroken={edit.setBroken} />
      </EditorSection>
      {!isNew && <EditorSection title={t.editor.details}>{basics}</EditorSection>}
      <AdvancedSettings draft={draft} onChange={set} />
      {stray.length > 0 && (
        <Alert color="red" mt="md" role="alert">
          {stray.map(({ message }) => message).join(' ')}
        </Alert>
      )}
    </>
  )
}

const isShownAtField = (error: unknown): boolean =>
  isProblem(error) && error.field !== null && ['key', 'name', 'tags', 'filters'].includes(error.field)
