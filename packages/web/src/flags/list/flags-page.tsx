import type { Flag } from '@halyard/contract'
import { Button, Code, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useProject } from '../../services/session-queries.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { PlusIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import { useFlags, useFoundFlags } from '../use-flags.ts'
import { useToggle } from '../use-toggle.ts'
import { FlagList } from './flag-list.tsx'
import { type FlagSearch, isFiltered, searchTexts, selectFlags } from './flag-search.ts'
import { FlagToolbar } from './flag-toolbar.tsx'
import { useFlagNotices } from './use-flag-notices.ts'
import { useListShortcuts } from './use-list-shortcuts.ts'
import { useSearchText } from './use-search-text.ts'

const ShortcutHelp = lazy(async () => ({ default: (await import('./shortcut-help.tsx')).ShortcutHelp }))
const noGroupTypes = {}

export function FlagsPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/flags' })
  const search = useSearch({ from: '/shell/project/$projectId/flags' })
  const navigate = useNavigate()
  const [cursor, setCursor] = useState(-1)
  const writeSearch = useCallback(
    (next: FlagSearch) =>
      navigate({ to: '/project/$projectId/flags', params: { projectId }, search: next, replace: true }),
    [navigate, projectId],
  )
  const [typed, type] = useSearchText(search, writeSearch)
  const setTyped = (text: string) => {
    setCursor(-1)
    type(text)
  }
  const setSearch = (next: FlagSearch) => {
    setCursor(-1)
    return writeSearch(next)
  }
  const clear = () => {
    setTyped('')
    return setSearch({})
  }
  const kind = search.state === 'deleted' ? 'deleted' : search.state === 'stale' ? 'stale' : 'live'
  const { flags: loaded, total, isComplete, error, refetch } = useFlags(projectId, kind)
  const wanted = useDeferredValue(typed)
  const found = useFoundFlags(projectId, kind, wanted, loaded !== undefined && !isComplete)
  const flags = useMemo(() => loaded && withFound(loaded, found), [loaded, found])
  const texts = useMemo(() => searchTexts(flags ?? []), [flags])
  const shown = useMemo(() => selectFlags(flags ?? [], texts, { ...search, q: wanted }), [flags, texts, search, wanted])

  // An empty project shows no filters.
  const isBare = flags?.length === 0 && !isFiltered(search) && typed === ''
  const project = useProject(projectId)
  const notes = useFlagNotices(projectId)
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const [isHelpOpen, help] = useDisclosure(false)
  const searchField = useRef<HTMLInputElement>(null)
  const { toggle, undo } = useToggle(projectId)
  const select = useCallback((flag: Flag) => setSelected(previous => toggled(previous, flag.id)), [])
  /** Also when the cursor was already on the first row. */
  const enterList = () => {
    setCursor(-1)
    requestAnimationFrame(() => setCursor(0))
  }
  const create = () => navigate({ to: '/project/$projectId/flags/new', params: { projectId } })
  const open = (flag: Flag) =>
    navigate({ to: '/project/$projectId/flags/$flagId', params: { projectId, flagId: String(flag.id) } })
  useListShortcuts({
    count: shown.length,
    cursor,
    setCursor,
    onOpen: index => shown[index] && open(shown[index]),
    onSelect: index => shown[index] && select(shown[index]),
    onToggle: index => shown[index]?.can_edit && toggle(shown[index]),
    onSearch: () => searchField.current?.focus(),
    onCreate: create,
    onUndo: undo,
    onHelp: help.open,
    onClear: () => setSelected(new Set()),
  })
  const chosen = useMemo(() => (flags ?? []).filter(flag => selected.has(flag.id)), [flags, selected])

  return (
    <Page
      wide
      title={t.flags.title}
      intro={project?.name}
      actions={
        <Button leftSection={<PlusIcon size={16} />} onClick={create}>
          {t.flags.create}
        </Button>
      }
    >
      {!isBare && (
        <FlagToolbar
          search={search}
          onChange={setSearch}
          onClear={clear}
          typed={typed}
          onType={setTyped}
          flags={flags ?? []}
          fieldRef={searchField}
          onLeave={enterList}
          onHelp={help.open}
        />
      )}
      <Text size="sm" c="dimmed" my="xs" role="status" mih="1.55em">
        {flags &&
          !isBare &&
          (isComplete ? t.flags.count(shown.length, flags.length) : t.flags.loadingMore(loaded?.length ?? 0, total))}
      </Text>
      <Loaded query={{ data: flags, error, refetch }}>
        {() => (
          <>
            {shown.length > 0 ? (
              <FlagList
                projectId={projectId}
                flags={shown}
                groupTypes={project?.group_types ?? noGroupTypes}
                selected={selected}
                onSelect={select}
                onSelectAll={isOn => setSelected(isOn ? new Set(shown.map(flag => flag.id)) : new Set())}
                onToggle={toggle}
                cursor={cursor}
                notes={notes}
              />
            ) : (
              <Empty isFiltered={isFiltered(search) || typed !== ''} onClear={clear} onCreate={create} />
            )}
          </>
        )}
      </Loaded>
      {project && <BulkBar project={project} flags={chosen} onSelect={ids => setSelected(new Set(ids))} />}
      <Suspense fallback={null}>{isHelpOpen && <ShortcutHelp onClose={help.close} />}</Suspense>
    </Page>
  )
}

/** Search results that are not loaded yet are older, so they go last. */
function withFound(loaded: readonly Flag[], found: readonly Flag[]): readonly Flag[] {
  if (found.length === 0) return loaded
  const known = new Set(loaded.map(flag => flag.id))
  return [...loaded, ...found.filter(flag => !known.has(flag.id))]
}

function toggled(set: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}

function Empty(props: { isFiltered: boolean; onClear: () => void; onCreate: () => void }) {
  const t = useMessages()
  if (!props.isFiltered) {
    return (
      <EmptyState title={t.flags.emptyTitle} text={t.flags.emptyText}>
        <Button onClick={props.onCreate}>{t.flags.create}</Button>
        <Text ta="center" c="dimmed" size="xs" mt="md">
          {t.flags.emptyDemo}
        </Text>
        <Code>npm run halyard -- demo</Code>
      </EmptyState>
    )
  }
  return (
    <EmptyState title={t.flags.nothingFound} text={t.flags.nothingFoundText}>
      <Button variant="default" onClick={props.onClear}>
        {t.flags.clearFilters}
      </Button>
    </EmptyState>
  )
}
