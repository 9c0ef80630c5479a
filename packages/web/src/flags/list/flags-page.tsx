import type { FlagSummary, Project } from '@halyard/contract'
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCanWrite, useProject } from '../../services/session-queries.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { PlusIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { useToggle } from '../use-toggle.tsx'
import { NoFlags } from './no-flags.tsx'
import { type ColumnName, readColumns, writeColumns } from './table/columns.ts'
import { FlagList } from './table/flag-list.tsx'
import { FlagToolbar } from './toolbar/flag-toolbar.tsx'
import { useFlagFacets } from './use-flag-facets.ts'
import { useFlagFilters } from './use-flag-filters.ts'
import { useFlagSelection } from './use-flag-selection.ts'
import { useListCursor } from './use-list-cursor.ts'
import { useListShortcuts } from './use-list-shortcuts.ts'
import { useMatchingFlags } from './use-matching-flags.ts'
import { useNextChanges } from './use-next-changes.ts'

const BulkBar = lazyComponent(async () => (await import('../bulk/bulk-bar.tsx')).BulkBar)
const ShortcutHelp = lazyComponent(async () => (await import('./shortcut-help.tsx')).ShortcutHelp)
const noGroupTypes = {}

export function FlagsPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/flags' })
  const project = useProject(projectId)
  const canCreate = useCanWrite(projectId)
  const navigate = useNavigate()
  const { cursor, setCursor, enter, leave } = useListCursor()
  const filters = useFlagFilters(projectId, leave)
  const { rows, total, isComplete, error, refetch } = useMatchingFlags(projectId, filters.search, filters.text)
  const selection = useFlagSelection(rows)
  const facets = useFlagFacets(projectId)
  const [shownColumns, chooseColumns] = useShownColumns()
  const nextChanges = useNextChanges(projectId)
  const { toggle, undo, dialog } = useToggle(project ?? { id: projectId, group_types: noGroupTypes })
  const [isHelpOpen, help] = useDisclosure(false)
  const searchField = useRef<HTMLInputElement>(null)
  const create = () => navigate({ to: '/project/$projectId/flags/new', params: { projectId } })
  const open = (flag: FlagSummary) =>
    navigate({ to: '/project/$projectId/flags/$flagId', params: { projectId, flagId: String(flag.id) } })
  const withFlagAt = (act: (flag: FlagSummary) => unknown) => (index: number) => {
    const flag = rows?.at(index)
    if (flag) act(flag)
  }
  useListShortcuts({
    count: rows?.count ?? 0,
    cursor,
    setCursor,
    onOpen: withFlagAt(open),
    onSelect: withFlagAt(selection.toggle),
    onToggle: withFlagAt(flag => flag.can_edit && !flag.deleted && toggle(flag)),
    onSearch: () => searchField.current?.focus(),
    onCreate: () => canCreate && create(),
    onUndo: undo,
    onHelp: help.open,
    onClear: selection.clear,
  })
  // An empty project shows no filters.
  const isEmptyProject = rows !== undefined && total === 0 && !filters.isFiltered

  return (
    <Page wide title={t.flags.title} intro={project?.name} actions={canCreate && <CreateButton onClick={create} />}>
      {!isEmptyProject && (
        <FlagToolbar
          projectId={projectId}
          search={filters.search}
          onChange={filters.setSearch}
          onClear={filters.clear}
          typed={filters.text}
          onType={filters.setText}
          facets={facets}
          shownColumns={shownColumns}
          onColumns={chooseColumns}
          fieldRef={searchField}
          onLeave={enter}
          onHelp={help.open}
        />
      )}
      <Text size="sm" c="dimmed" my="xs" role="status" mih="1.55em">
        {rows && !isEmptyProject && (isComplete ? t.flags.count(rows.count, total) : t.common.loading)}
      </Text>
      <Loaded query={{ data: rows, error, refetch }}>
        {matches =>
          matches.count > 0 ? (
            <FlagList
              projectId={projectId}
              rows={matches}
              shownColumns={shownColumns}
              sort={filters.search.sort}
              onSort={sort => filters.setSearch({ ...filters.search, sort })}
              groupTypes={project?.group_types ?? noGroupTypes}
              selected={selection.selected}
              onSelect={selection.toggle}
              onSelectAll={isOn => (isOn ? selection.selectAll() : selection.clear())}
              onToggle={toggle}
              cursor={cursor}
              nextChanges={nextChanges}
            />
          ) : (
            <NoFlags
              projectId={projectId}
              isFiltered={filters.isFiltered}
              onClear={filters.clear}
              onCreate={canCreate ? create : undefined}
            />
          )
        }
      </Loaded>
      {project && <BulkActions project={project} selection={selection} />}
      {dialog}
      <Suspense fallback={null}>{isHelpOpen && <ShortcutHelp onClose={help.close} />}</Suspense>
    </Page>
  )
}

function CreateButton({ onClick }: { onClick: () => void }) {
  const t = useMessages()
  return (
    <Button leftSection={<PlusIcon size={16} />} onClick={onClick}>
      {t.flags.create}
    </Button>
  )
}

function useShownColumns() {
  const [shown, setShown] = useState(() => readColumns(localStorage))
  const choose = (chosen: readonly ColumnName[]) => {
    setShown(chosen)
    writeColumns(localStorage, chosen)
  }
  return [shown, choose] as const
}

interface BulkProps {
  project: Project
  selection: ReturnType<typeof useFlagSelection>
}

/** Loaded with the first selection; from then on it stays, with its dialogs. */
function BulkActions({ project, selection }: BulkProps) {
  const [isLoaded, setIsLoaded] = useState(false)
  if (!isLoaded && selection.selected.size > 0) setIsLoaded(true)
  return (
    <Suspense fallback={null}>
      {isLoaded && <BulkBar project={project} flags={selection.flags} onSelect={selection.keep} />}
    </Suspense>
  )
}
