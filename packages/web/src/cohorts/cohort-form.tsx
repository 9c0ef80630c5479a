import { routes } from '@halyard/contract'
import type { Issue } from '@halyard/engine'
import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { type Cohort, useCohorts } from '../services/cohort-queries.ts'
import { useCall } from '../services/services.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { focusInvalidField } from '../ui/layout/focus-invalid-field.ts'
import { useFirstFocus } from '../ui/layout/visibility-context.ts'
import { CohortFilters, cohortProblems } from './cohort-filters.tsx'
import { emptyTree, writeTree } from './cohort-tree.ts'

const noProblems: readonly Issue[] = []

export function CohortForm({ projectId, cohort }: { projectId: string; cohort: Cohort | undefined }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const [name, setName] = useState(cohort?.name ?? '')
  const [description, setDescription] = useState(cohort?.description ?? '')
  const [isStatic, setIsStatic] = useState(cohort?.is_static ?? false)
  const [filters, setFilters] = useState<Record<string, unknown>>(() => cohort?.filters ?? writeTree(emptyTree))
  const save = useMutation({
    mutationFn: () => {
      const body = { name, description, ...(!isStatic && { filters }) }
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
  const cohorts = useCohorts(projectId)
  const [attempts, setAttempts] = useState(0)
  const hasTried = attempts > 0
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (attempts > 0) focusInvalidField(form.current)
  }, [attempts])
  const problems = useMemo(
    () => (isStatic ? [] : cohortProblems(filters, cohort?.id, cohorts)),
    [isStatic, filters, cohort, cohorts],
  )
  const nameField = useRef<HTMLInputElement>(null)
  useFirstFocus(nameField, !cohort)
  const isNameMissing = name.trim() === ''
  const atName = fieldProblem(t, save.error, 'name') ?? (hasTried && isNameMissing ? t.cohorts.nameMissing : undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAttempts(count => count + 1)
    if (problems.length === 0 && !isNameMissing) save.mutate()
  }
  return (
    <form ref={form} onSubmit={submit}>
      <Stack>
        {!atName && <ProblemAlert error={save.error} />}
        <TextInput
          label={t.cohorts.name}
          ref={nameField}
          maxLength={400}
          value={name}
          error={atName}
          onChange={event => setName(event.currentTarget.value)}
          maw={480}
        />
        <Textarea
          label={t.fields.name}
          autosize
          minRows={1}
          maxLength={1000}
          value={description}
          onChange={event => setDescription(event.currentTarget.value)}
          maw={480}
        />
        {!cohort && (
          <SegmentedControl
            aria-label={t.cohorts.kind}
            style={{ alignSelf: 'flex-start' }}
            value={isStatic ? 'static' : 'dynamic'}
            onChange={value => setIsStatic(value === 'static')}
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
            onChange={setFilters}
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
