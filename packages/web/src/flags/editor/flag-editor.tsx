import type { Flag, Project } from '@halyard/contract'
import {
  Alert,
  Box,
  Button,
  Collapse,
  Group,
  NativeSelect,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useBlocker } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Cohort } from '../../api/cohorts.ts'
import { isProblem } from '../../api/problem.ts'
import { ConfirmDialog } from '../../app/confirm-dialog.tsx'
import { PlusIcon } from '../../app/icons.tsx'
import { fieldProblem, ProblemAlert } from '../../app/problems.tsx'
import { useMessages } from '../../messages/language.tsx'
import type { Condition, Filters } from '../filters.ts'
import { BlastRadius } from './blast-radius.tsx'
import { ConditionCard } from './condition-card.tsx'
import { definitionsFor, draftDefinition, issuesOf } from './definitions.ts'
import { changesOf, type Draft } from './draft.ts'
import { type Editing, EditingContext } from './editing.ts'
import classes from './editor.module.css'
import { PayloadEditor } from './payload-editor.tsx'
import { Preview } from './preview.tsx'
import { VariantsEditor } from './variants-editor.tsx'

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
  /** Asked to save: for a new flag at once, for an old one after a review. */
  onSave: (draft: Draft) => void
}

export function FlagEditor(props: Props) {
  const { original, flagId, project, flags, cohorts, error } = props
  const t = useMessages()
  const [draft, setDraft] = useState(original)
  const set = (change: Partial<Draft>) => setDraft(old => ({ ...old, ...change }))
  const setFilters = (filters: Filters) => set({ filters })
  const isChanged = useMemo(() => Object.keys(changesOf(draft, original)).length > 0, [draft, original])
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
  const problems = useMemo(() => problemsOf(definition, definitions, error), [definition, definitions, error])
  const [hasTried, setHasTried] = useState(false)
  const leaving = useBlocker({
    shouldBlockFn: () => isChanged && !props.isSaving,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })

  const save = () => {
    setHasTried(true)
    // What the server refused last time may have been mended since; what the engine finds here has not.
    if (draft.key.trim() === '' || issuesOf(definition, definitions).length > 0 || props.isReadOnly) return
    props.onSave(draft)
  }
  useHotkeys([['mod+S', save]], [])

  const editing = useMemo(
    (): Editing => ({
      flagId,
      flags,
      cohorts,
      groupTypes: project.group_types,
      variantKeys: draft.filters.variants.map(({ key }) => key),
      groupTypeIndex: draft.filters.groupTypeIndex,
      knownProperties: knownProperties(flags),
      problemsAt: path =>
        hasTried || error !== null
          ? problems.filter(problem => problem.path.startsWith(path)).map(({ message }) => message)
          : [],
    }),
    [flagId, flags, cohorts, project, draft.filters, problems, hasTried, error],
  )
  const isAtField = isProblem(error) && error.field !== null && ['key', 'name', 'tags'].includes(error.field)
  const stray = hasTried ? problems.filter(({ path }) => !/\[\d+\]/.test(path)) : []
  const keyMissing = hasTried && draft.key.trim() === '' ? t.editor.keyMissing : undefined

  return (
    <EditingContext.Provider value={editing}>
      <div className={classes.columns}>
        <fieldset disabled={props.isReadOnly} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
          {!isAtField && error !== null && !(isProblem(error) && error.field === 'filters') && (
            <ProblemAlert error={error} />
          )}
          {props.isReadOnly && <Alert color="gray">{t.flags.mayNotEdit}</Alert>}
          <Stack gap="sm">
            <TextInput
              label={t.fields.key}
              description={t.editor.keyHint}
              required
              withAsterisk={false}
              maxLength={400}
              data-autofocus={props.isNew || undefined}
              value={draft.key}
              error={fieldProblem(error, 'key') ?? keyMissing}
              onChange={event => set({ key: event.currentTarget.value })}
            />
            <Textarea
              label={t.fields.name}
              autosize
              minRows={1}
              value={draft.name}
              error={fieldProblem(error, 'name')}
              onChange={event => set({ name: event.currentTarget.value })}
            />
            <TagsInput
              label={t.fields.tags}
              value={draft.tags.filter(tag => typeof tag === 'string')}
              onChange={tags => set({ tags: [...tags, ...draft.tags.filter(tag => typeof tag !== 'string')] })}
              acceptValueOnBlur
            />
            {props.isNew && (
              <Switch
                color="green"
                label={t.editor.startOn}
                checked={draft.active}
                onChange={event => set({ active: event.currentTarget.checked })}
              />
            )}
          </Stack>

          <Section title={t.editor.serves}>
            <VariantsEditor filters={draft.filters} onChange={setFilters} />
          </Section>
          <Section title={t.editor.conditions} intro={t.editor.conditionsIntro}>
            <Conditions filters={draft.filters} onChange={setFilters} groupTypes={project.group_types} />
          </Section>
          <Section title={t.editor.payloads} intro={t.editor.payloadsIntro}>
            <PayloadEditor filters={draft.filters} onChange={setFilters} />
          </Section>
          <Advanced draft={draft} onChange={set} />
          {stray.length > 0 && (
            <Alert color="red" mt="md" role="alert">
              {stray.map(({ message }) => message).join(' ')}
            </Alert>
          )}
        </fieldset>
        <Stack className={classes.aside as string}>
          <BlastRadius
            projectId={String(project.id)}
            flagId={props.isNew ? undefined : flagId}
            draft={draft}
            isSound={problems.length === 0}
          />
          <Preview draft={definition} filters={draft.filters} definitions={definitions} />
        </Stack>
      </div>
      {(isChanged || props.isNew) && !props.isReadOnly && (
        <Group className={classes.savebar as string} justify="flex-end">
          <Text size="sm" c="dimmed" flex={1} role="status">
            {hasTried && problems.length > 0
              ? t.editor.problems(problems.length)
              : isChanged && !props.isNew
                ? t.editor.unsaved
                : ''}
          </Text>
          {!props.isNew && (
            <Button variant="default" onClick={() => setDraft(original)}>
              {t.editor.discard}
            </Button>
          )}
          <Button onClick={save} loading={props.isSaving}>
            {props.isNew ? t.editor.createFlag : t.editor.review}
          </Button>
        </Group>
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

function Section(props: { title: string; intro?: string; children: React.ReactNode }) {
  return (
    <section className={classes.section}>
      <Title order={2}>{props.title}</Title>
      {props.intro && (
        <Text size="sm" c="dimmed" mb="xs">
          {props.intro}
        </Text>
      )}
      <Box mt="xs">{props.children}</Box>
    </section>
  )
}

function Conditions({
  filters,
  onChange,
  groupTypes,
}: {
  filters: Filters
  onChange: (filters: Filters) => void
  groupTypes: Readonly<Record<string, string>>
}) {
  const t = useMessages()
  const { groups } = filters
  const set = (next: readonly Condition[]) => onChange({ ...filters, groups: next })
  const replace = (index: number, ...next: Condition[]) =>
    set(groups.flatMap((group, at) => (at === index ? next : [group])))
  const move = (index: number, step: number) => {
    const next = [...groups]
    const [moved] = next.splice(index, 1)
    if (moved) next.splice(index + step, 0, moved)
    set(next)
  }
  return (
    <Stack>
      {(Object.keys(groupTypes).length > 0 || filters.groupTypeIndex !== null) && (
        <NativeSelect
          label={t.editor.counts}
          description={t.editor.countsHint}
          maw={320}
          value={String(filters.groupTypeIndex ?? '')}
          onChange={event => {
            const { value } = event.currentTarget
            // Filters of people say nothing about groups, and the other way round.
            const cleared = groups.map(group => ({ ...group, properties: [] }))
            onChange({ ...filters, groups: cleared, groupTypeIndex: value === '' ? null : Number(value) })
          }}
          data={[
            { value: '', label: t.flagState.people },
            ...Object.entries(groupTypes).map(([value, label]) => ({ value, label })),
          ]}
        />
      )}
      {groups.map((condition, index) => (
        <ConditionCard
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
          key={index}
          condition={condition}
          index={index}
          count={groups.length}
          onChange={next => replace(index, next)}
          onMove={step => move(index, step)}
          onDuplicate={() => replace(index, condition, condition)}
          onRemove={() => replace(index)}
        />
      ))}
      <Button
        variant="default"
        leftSection={<PlusIcon size={16} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => set([...groups, { properties: [], rollout_percentage: 0 }])}
      >
        {t.editor.addCondition}
      </Button>
    </Stack>
  )
}

function Advanced({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const t = useMessages()
  const [isOpen, { toggle }] = useDisclosure(false)
  return (
    <section className={classes.section}>
      <Button variant="subtle" color="gray" size="compact-sm" onClick={toggle} aria-expanded={isOpen}>
        {t.editor.advanced}
      </Button>
      <Collapse expanded={isOpen}>
        <Stack mt="sm" gap="sm">
          <Switch
            label={t.fields.ensure_experience_continuity}
            description={t.editor.continuityHint}
            checked={draft.ensure_experience_continuity}
            onChange={event => onChange({ ensure_experience_continuity: event.currentTarget.checked })}
          />
          <NativeSelect
            label={t.fields.bucketing_identifier}
            maw={320}
            value={draft.bucketing_identifier ?? 'distinct_id'}
            onChange={event =>
              onChange({ bucketing_identifier: event.currentTarget.value as 'distinct_id' | 'device_id' })
            }
            data={[
              { value: 'distinct_id', label: t.editor.byPerson },
              { value: 'device_id', label: t.editor.byDevice },
            ]}
          />
          <NativeSelect
            label={t.fields.evaluation_runtime}
            maw={320}
            value={draft.evaluation_runtime ?? 'all'}
            onChange={event =>
              onChange({ evaluation_runtime: event.currentTarget.value as 'all' | 'server' | 'client' })
            }
            data={[
              { value: 'all', label: t.editor.runtimeAll },
              { value: 'server', label: t.editor.runtimeServer },
              { value: 'client', label: t.editor.runtimeClient },
            ]}
          />
        </Stack>
      </Collapse>
    </section>
  )
}

interface Found {
  readonly path: string
  readonly message: string
}

/** What the engine finds here, and what the server said of the filters: `path: sentence`. */
function problemsOf(...[definition, definitions, error]: [...Parameters<typeof issuesOf>, unknown]): Found[] {
  const found: Found[] = issuesOf(definition, definitions)
  if (!isProblem(error) || error.field !== 'filters') return found
  const [, path = 'filters', message = error.message] = /^(filters[^\s:]*): (.*)$/s.exec(error.message) ?? []
  return found.some(issue => issue.path === path) ? found : [...found, { path, message }]
}

function knownProperties(flags: readonly Flag[]): string[] {
  const keys = new Set<string>()
  for (const { filters } of flags) {
    for (const group of (filters as { groups?: { properties?: { key?: unknown; type?: unknown }[] }[] }).groups ?? []) {
      for (const { key, type } of group.properties ?? []) {
        if (typeof key === 'string' && type !== 'cohort' && type !== 'flag') keys.add(key)
      }
    }
  }
  return [...keys].sort()
}
