import { routes } from '@halyard/contract'
import type { Issue } from '@halyard/engine'
import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { type Cohort, useCohorts } from '../services/cohort-queries.ts'
import { useCall } from '../services/services.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { useAttempts } from '../ui/layout/use-attempts.ts'
import { useFirstFocus } from '../ui/layout/visibility-context.ts'
import { CohortFilters, cohortProblems } from './cohort-filters.tsx'
import { emptyTree, writeTree } from './cohort-tree.ts'

const noProblems: readonly Issue[] = []

export function CohortForm({ projectId, cohort }: { projectId: string; cohort: Cohort | undefined }) {
  const t = useMessages()
  const [draft, setDraft] = useState(() => draftOf(cohort))
  const set = (change: Partial<CohortDraft>) => setDraft(old => ({ ...old, ...change }))
  const { isStatic, filters } = draft
  const save = useSaveCohort(projectId, cohort)
  const cohorts = useCohorts(projectId)
  const form = useRef<HTMLFormElement>(null)
  const { hasTried, attempt } = useAttempts(form)
  const problems = useMemo(
    () => (isStatic ? [] : cohortProblems(filters, cohort?.id, cohorts)),
    [isStatic, filters, cohort, cohorts],
  )
  const isNameMissing = draft.name.trim() === ''
  const atName = fieldProblem(t, save.error, 'name') ?? (hasTried && isNameMissing ? t.cohorts.nameMissing : undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    attempt()
    if (problems.length === 0 && !isNameMissing) save.mutate(draft)
  }
  return (
    <form ref={form} onSubmit={submit}>
      <Stack>
        {!atName && <ProblemAlert error={save.error} />}
        <NameFields draft={draft} error={atName} isFocused={!cohort} onChange={set} />
        {!cohort && (
          <SegmentedControl
            aria-label={t.cohorts.kind}
            style={{ alignSelf: 'flex-start' }}
            value={isStatic ? 'static' : 'dynamic'}
            onChange={value => set({ isStatic: value === 'static' })}
            data={[
              { value: 'dynamic', label: t.cohorts.byFilters },
              { value: 'static', label: t.cohorts.byList },
            ]}
          />
        )}
        {isStatic ? (
          !cohort && <Text size="sm">{t.cohorts.listLater}</Text>
        ) : (
          <CohortFilters
            projectId={projectId}
            cohortId={cohort?.id}
            filters={filters}
            problems={hasTried ? problems : noProblems}
            onChange={next => set({ filters: next })}
          />
        )}
        <Group>
          <Button type="submit" loading={save.isPending}>
            {cohort ? t.common.save : t.cohorts.submit}
          </Button>
          {hasTried && problems.length > 0 && (
            <Text size="sm" role="status">
              {t.editor.issues(problems.length)}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  )
}

interface CohortDraft {
  readonly name: string
  readonly description: string
  readonly isStatic: boolean
  readonly filters: Record<string, unknown>
}

const draftOf = (cohort: Cohort | undefined): CohortDraft => ({
  name: cohort?.name ?? '',
  description: cohort?.description ?? '',
  isStatic: cohort?.is_static ?? false,
  filters: cohort?.filters ?? writeTree(emptyTree),
})

interface NameProps {
  draft: CohortDraft
  error: string | undefined
  isFocused: boolean
  onChange: (change: Partial<CohortDraft>) => void
}

function NameFields({ draft, error, isFocused, onChange }: NameProps) {
  const t = useMessages()
  const nameField = useRef<HTMLInputElement>(null)
  useFirstFocus(nameField, isFocused)
  return (
    <>
      <TextInput
        label={t.cohorts.name}
        ref={nameField}
        maxLength={400}
        value={draft.name}
        error={error}
        onChange={event => onChange({ name: event.currentTarget.value })}
        maw={480}
      />
      <Textarea
        label={t.fields.name}
        autosize
        minRows={1}
        maxLength={1000}
        value={draft.description}
        onChange={event => onChange({ description: event.currentTarget.value })}
        maw={480}
      />
    </>
  )
}

/** Creates the cohort, or updates it. Either way its page is shown. */
function useSaveCohort(projectId: string, cohort: Cohort | undefined) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  return useMutation({
    mutationFn: ({ isStatic, filters, ...fields }: CohortDraft) => {
      const body = { ...fields, ...(!isStatic && { filters }) }
      if (cohort) return call(routes.cohorts.update, { params: { project_id: projectId, id: String(cohort.id) }, body })
      return call(routes.cohorts.create, { params: { project_id: projectId }, body: { ...body, is_static: isStatic } })
    },
    onSuccess: async saved => {
      queries.setQueryData(['cohort', projectId, String(saved.id)], saved)
      await queries.invalidateQueries({ queryKey: ['cohorts', projectId] })
      notify.success({ message: t.editor.saved })
      await navigate({ to: '/project/$projectId/cohorts/$cohortId', params: { projectId, cohortId: String(saved.id) } })
    },
  })
}
