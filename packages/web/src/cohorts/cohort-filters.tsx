import { checkCohort, type Issue } from '@halyard/engine'
import { Alert, Collapse, JsonInput, Stack, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { regex } from '../flags/editor/draft-definitions.ts'
import { translateIssue } from '../flags/editor/draft-problems.ts'
import { type Editing, EditingContext } from '../flags/editor/editor-context.ts'
import { useMessages } from '../i18n/language.tsx'
import { type Cohort, useCohorts } from '../services/cohort-queries.ts'
import { useProject } from '../services/session-queries.ts'
import { jsonErrorPosition } from '../ui/data/json-error.ts'
import { DisclosureButton } from '../ui/layout/disclosure-button.tsx'
import { type FilterTree, isTree, readTree, rootPath, writeTree } from './cohort-tree.ts'
import { FilterGroup } from './filter-group.tsx'

interface Props {
  projectId: string
  cohortId: number | undefined
  filters: Record<string, unknown>
  problems: readonly Issue[]
  onChange: (filters: Record<string, unknown>) => void
}

/** The cohort's definition: built from filters and groups, or written as JSON. */
export function CohortFilters({ projectId, cohortId, filters, problems, onChange }: Props) {
  const t = useMessages()
  const project = useProject(projectId)
  const cohorts = useCohorts(projectId)
  // Keeps its own state: on the wire a group with one filter collapses into that filter.
  const [tree, setTree] = useState(() => readTree(filters))
  const [isJsonOpen, json] = useDisclosure(tree === undefined)
  const editing = useMemo(
    (): Editing => ({
      isCohort: true,
      projectId,
      flagId: 0,
      flags: [],
      cohorts: cohorts.filter(({ id }) => id !== cohortId),
      groupTypes: project?.group_types ?? {},
      variantKeys: [],
      groupTypeIndex: null,
      propertyNames: propertyNames(cohorts),
      problemsAt: path =>
        problems.filter(problem => problem.path.startsWith(path)).map(problem => translateIssue(t, problem).message),
    }),
    [t, cohorts, cohortId, project, projectId, problems],
  )
  const build = (next: FilterTree) => {
    setTree(next)
    onChange(writeTree(next))
  }
  const write = (next: Record<string, unknown>) => {
    setTree(readTree(next))
    onChange(next)
  }
  const stray = tree === undefined ? problems : problems.filter(({ path }) => !path.includes('.values['))
  return (
    <EditingContext.Provider value={editing}>
      <Stack gap="xs">
        <Title order={2}>{t.cohorts.definition}</Title>
        {tree && <FilterGroup tree={tree} path={rootPath(tree)} onChange={build} />}
        {stray.length > 0 && (
          <Alert color="red" role="alert">
            {stray.map(problem => translateIssue(t, problem).message).join(' ')}
          </Alert>
        )}
        <div>
          <DisclosureButton label={t.cohorts.asJson} isOpen={isJsonOpen} onToggle={json.toggle} />
          <Collapse expanded={isJsonOpen}>{isJsonOpen && <JsonFilters filters={filters} onChange={write} />}</Collapse>
        </div>
      </Stack>
    </EditingContext.Provider>
  )
}

function JsonFilters({ filters, onChange }: Pick<Props, 'filters' | 'onChange'>) {
  const t = useMessages()
  const [typed, setTyped] = useState<string>()
  const position = jsonErrorPosition(typed ?? '{}')
  return (
    <JsonInput
      aria-label={t.cohorts.asJson}
      autosize
      minRows={6}
      maxRows={24}
      mt="xs"
      value={typed ?? JSON.stringify(filters, null, 2)}
      {...(position && { validationError: t.editor.invalidJson(position.line, position.column) })}
      onBlur={() => setTyped(undefined)}
      onChange={text => {
        setTyped(text)
        const parsed = parse(text)
        if (parsed) onChange(parsed)
      }}
    />
  )
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Validates the filters with the engine that will evaluate them. */
export function cohortProblems(
  filters: Record<string, unknown>,
  cohortId: number | undefined,
  cohorts: readonly Cohort[],
): Issue[] {
  const definitions = {
    flags: [],
    groupTypes: {},
    propertyMatchingVersion: 2 as const,
    cohorts: cohorts.map(({ id, name, is_static, filters: theirs }) => ({
      id,
      name,
      isStatic: is_static,
      filters: theirs,
    })),
  }
  return checkCohort({ id: cohortId ?? 0, isStatic: false, filters }, definitions, { regex })
}

function propertyNames(cohorts: readonly Cohort[]): string[] {
  const keys = new Set<string>()
  const collect = ({ members }: FilterTree) => {
    for (const member of members) {
      if (isTree(member)) collect(member)
      else if (member.type === 'person') keys.add(member.key)
    }
  }
  for (const { filters } of cohorts) collect(readTree(filters) ?? { type: 'AND', members: [] })
  return [...keys].sort()
}
