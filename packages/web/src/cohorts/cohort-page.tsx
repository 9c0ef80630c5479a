import { routes } from '@halyard/contract'
import {
  Button,
  Group,
  JsonInput,
  Progress,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { type Cohort, useCohorts } from '../api/cohorts.ts'
import { useProject } from '../api/queries.ts'
import { ConfirmButton } from '../app/confirm-button.tsx'
import { PlusIcon } from '../app/icons.tsx'
import { useNotify } from '../app/notify.ts'
import { Page } from '../app/page.tsx'
import { fieldProblem, Loaded, ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { type Editing, EditingContext } from '../flags/editor/editing.ts'
import { PropertyRow } from '../flags/editor/property-row.tsx'
import type { Property } from '../flags/filters.ts'
import { useFormats, useMessages } from '../messages/language.tsx'
import { readCohortFilters, type SimpleFilters, writeCohortFilters } from './cohort-filters.ts'
import { CohortPeople } from './cohort-people.tsx'

const pollMilliseconds = 1000

/** Counting happens in the background, a little after a cohort has been saved. */
const isUnfinished = (cohort: Cohort | undefined): boolean =>
  cohort !== undefined && (cohort.is_calculating || (!cohort.is_static && cohort.count === null))

export function CohortPage() {
  const t = useMessages()
  const { projectId, cohortId } = useParams({ from: '/shell/project/$projectId/cohorts/$cohortId' })
  const isNew = cohortId === 'new'
  const call = useCall()
  const cohort = useQuery({
    queryKey: ['cohort', projectId, cohortId],
    queryFn: ({ signal }) => call(routes.cohorts.get, { params: { project_id: projectId, id: cohortId }, signal }),
    enabled: !isNew,
    refetchInterval: query => (isUnfinished(query.state.data) ? pollMilliseconds : false),
  })
  if (isNew) {
    return (
      <Page title={t.cohorts.create}>
        <CohortForm projectId={projectId} cohort={undefined} />
      </Page>
    )
  }
  return (
    <Loaded query={cohort}>
      {known => (
        <Page
          title={known.name || `#${known.id}`}
          intro={<Size cohort={known} />}
          actions={<DeleteCohort projectId={projectId} cohort={known} />}
        >
          <Stack gap="xl">
            <CohortForm key={known.version} projectId={projectId} cohort={known} />
            <CohortPeople projectId={projectId} cohort={known} />
          </Stack>
        </Page>
      )}
    </Loaded>
  )
}

function Size({ cohort }: { cohort: Cohort }) {
  const t = useMessages()
  const { count } = useFormats()
  if (cohort.is_calculating) {
    const { processed = 0, total = null } = cohort.progress ?? {}
    return (
      <span role="status">
        {t.cohorts.counting}
        {total !== null && (
          <Progress value={(100 * processed) / Math.max(1, total)} aria-label={t.cohorts.counting} mt={4} />
        )}
      </span>
    )
  }
  return <>{cohort.count === null ? t.cohorts.notCounted : t.cohorts.size(count(cohort.count))}</>
}

function DeleteCohort({ projectId, cohort }: { projectId: string; cohort: Cohort }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await call(routes.cohorts.update, {
      params: { project_id: projectId, id: String(cohort.id) },
      body: { deleted: true },
    })
    await queries.invalidateQueries({ queryKey: ['cohorts', projectId] })
    await navigate({ to: '/project/$projectId/cohorts', params: { projectId } })
  }
  return (
    <ConfirmButton label={t.flags.bulkDelete} question={t.cohorts.deleteQuestion(cohort.name)} onConfirm={remove} />
  )
}

function CohortForm({ projectId, cohort }: { projectId: string; cohort: Cohort | undefined }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const [name, setName] = useState(cohort?.name ?? '')
  const [description, setDescription] = useState(cohort?.description ?? '')
  const [isStatic, setIsStatic] = useState(cohort?.is_static ?? false)
  const [filters, setFilters] = useState<Record<string, unknown>>(
    () => cohort?.filters ?? writeCohortFilters({ type: 'AND', properties: [] }),
  )
  const save = useMutation({
    mutationFn: () => {
      const body = { name, description, ...(!isStatic && { filters }) }
      if (cohort) return call(routes.cohorts.update, { params: { project_id: projectId, id: String(cohort.id) }, body })
      return call(routes.cohorts.create, { params: { project_id: projectId }, body: { ...body, is_static: isStatic } })
    },
    onSuccess: async saved => {
      queries.setQueryData(['cohort', projectId, String(saved.id)], saved)
      await queries.invalidateQueries({ queryKey: ['cohorts', projectId] })
      notify.tell({ message: t.editor.saved })
      await navigate({ to: '/project/$projectId/cohorts/$cohortId', params: { projectId, cohortId: String(saved.id) } })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const atName = fieldProblem(save.error, 'name')
  return (
    <form onSubmit={submit}>
      <Stack>
        {!atName && <ProblemAlert error={save.error} />}
        <TextInput
          label={t.cohorts.name}
          required
          withAsterisk={false}
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
          <CohortFilters projectId={projectId} cohortId={cohort?.id} filters={filters} onChange={setFilters} />
        )}
        <Group>
          <Button type="submit" loading={save.isPending}>
            {cohort ? t.common.save : t.cohorts.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface FiltersProps {
  projectId: string
  cohortId: number | undefined
  filters: Record<string, unknown>
  onChange: (filters: Record<string, unknown>) => void
}

function CohortFilters({ projectId, cohortId, filters, onChange }: FiltersProps) {
  const t = useMessages()
  const project = useProject(projectId)
  const cohorts = useCohorts(projectId)
  const simple = readCohortFilters(filters)
  const editing = useMemo(
    (): Editing => ({
      flagId: 0,
      flags: [],
      cohorts: cohorts.filter(({ id }) => id !== cohortId),
      groupTypes: project?.group_types ?? {},
      variantKeys: [],
      groupTypeIndex: null,
      knownProperties: [],
      problemsAt: () => [],
    }),
    [cohorts, cohortId, project],
  )
  if (!simple) return <JsonFilters filters={filters} onChange={onChange} />
  const set = (next: Partial<SimpleFilters>) => onChange(writeCohortFilters({ ...simple, ...next }))
  const replace = (at: number, property: Property | undefined) =>
    set({ properties: simple.properties.flatMap((old, index) => (index === at ? (property ?? []) : old)) })
  const add = (property: Property) => set({ properties: [...simple.properties, property] })
  return (
    <EditingContext.Provider value={editing}>
      <Stack gap="xs">
        <Title order={2}>{t.cohorts.who}</Title>
        <SegmentedControl
          aria-label={t.cohorts.match}
          style={{ alignSelf: 'flex-start' }}
          value={simple.type}
          onChange={type => set({ type: type as 'AND' | 'OR' })}
          data={[
            { value: 'AND', label: t.cohorts.all },
            { value: 'OR', label: t.cohorts.any },
          ]}
        />
        {simple.properties.map((property, index) => (
          <PropertyRow
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
            key={index}
            index={simple.type === 'AND' ? index : 0}
            path={`filters.${index}`}
            property={property}
            onChange={next => replace(index, next)}
            onRemove={() => replace(index, undefined)}
          />
        ))}
        <Group gap="xs">
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<PlusIcon size={14} />}
            onClick={() => add({ key: '', type: 'person', operator: 'exact', value: [] })}
          >
            {t.editor.addFilter}
          </Button>
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<PlusIcon size={14} />}
            onClick={() => add({ key: 'id', type: 'cohort', operator: 'in', value: '' })}
          >
            {t.cohorts.addCohort}
          </Button>
        </Group>
      </Stack>
    </EditingContext.Provider>
  )
}

function JsonFilters({ filters, onChange }: Pick<FiltersProps, 'filters' | 'onChange'>) {
  const t = useMessages()
  const [text, setText] = useState(() => JSON.stringify(filters, null, 2))
  return (
    <JsonInput
      label={t.cohorts.asJson}
      autosize
      minRows={6}
      maxRows={24}
      value={text}
      validationError={t.editor.notJson}
      onChange={next => {
        setText(next)
        try {
          onChange(JSON.parse(next))
        } catch {
          // Not JSON yet; the field says so.
        }
      }}
    />
  )
}
