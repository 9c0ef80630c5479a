import { type Plugin, type PluginWrite, routes } from '@halyard/contract'
import { Alert, Anchor, Button, Group, Kbd, Loader, Stack, Text, Title } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type CSSProperties, Suspense, useId, useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { scope, sourceQuery } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'
import { TextDiff } from '../text-diff.tsx'
import { readCompileError } from './compile-error.ts'
import { changesOf, type Files, renamed, starter, without } from './edited-files.ts'
import { FileList } from './file-list.tsx'
import classes from './source-tab.module.css'

const CodeEditor = lazyComponent(async () => (await import('./code-editor.tsx')).default)

/** The source files of a plugin. The server compiles changes before it stores them. */
export function SourceTab(props: PluginProps) {
  const call = useCall()
  const source = useQuery(sourceQuery(call, props.organizationId, props.plugin))
  return (
    <Loaded query={source}>
      {files => (
        <SourceEditor {...props} key={props.plugin.tag} initial={files} isNew={Object.keys(files).length === 0} />
      )}
    </Loaded>
  )
}

interface EditorProps extends PluginProps {
  initial: Files
  isNew: boolean
}

function SourceEditor({ plugin, organizationId, isWritable, initial, isNew }: EditorProps) {
  const t = useMessages()
  const help = useId()
  const isStarting = isNew && isWritable && plugin.plugin_type === 'source'
  const [stored, setStored] = useState<Files>(initial)
  const [edited, setEdited] = useState<Files>(() => (isStarting ? starter(plugin.name) : initial))
  const [shown, setShown] = useState(() => firstOf(edited))
  /** Incremented to recreate the editor with the stored files. */
  const [revision, setRevision] = useState(0)
  const [errorVisit, setErrorVisit] = useState(0)
  const [isComparing, setIsComparing] = useState(false)
  const changes = useMemo(() => changesOf(stored, edited), [stored, edited])
  const changedCount = Object.keys(changes).length
  const save = useSave(organizationId, plugin, source => {
    setStored(source)
    setIsComparing(false)
  })
  const saveNow = () => {
    if (isWritable && changedCount > 0 && !save.isPending) save.mutate(changes)
  }
  useHotkeys([['mod+S', saveNow]], [])
  // An untouched template is no unsaved change.
  const isOwnWork = changedCount > 0 && !(isStarting && sameFiles(edited, starter(plugin.name)))
  const leaving = useBlocker({
    // The tabs of a plugin share a path and differ in the search parameter.
    shouldBlockFn: ({ current, next }) =>
      isOwnWork && (current.pathname !== next.pathname || tabOf(current.search) !== tabOf(next.search)),
    enableBeforeUnload: () => isOwnWork,
    withResolver: true,
  })
  const compileError = useMemo(() => readCompileError(save.error, Object.keys(edited)), [save.error, edited])
  const change = (files: Files, show = shown) => {
    setEdited(files)
    setShown(files[show] === undefined ? firstOf(files) : show)
  }
  const discard = () => {
    change(stored)
    setRevision(old => old + 1)
    save.reset()
  }
  const visitFault = () => {
    if (compileError) setShown(compileError.file)
    setErrorVisit(old => old + 1)
  }

  if (Object.keys(edited).length === 0 && !isWritable) return <Text size="sm">{t.plugins.noSource}</Text>
  return (
    <Stack>
      {isStarting && changedCount > 0 && !save.error && <Alert color="indigo">{t.plugins.starter}</Alert>}
      {isWritable && plugin.plugin_type !== 'source' && (
        <Text size="sm" c="dimmed">
          {t.plugins.editsEnd}
        </Text>
      )}
      {compileError ? (
        <Alert color="red" role="alert" title={t.plugins.compileFailed}>
          <Anchor component="button" type="button" size="sm" underline="always" onClick={visitFault}>
            {t.plugins.errorAt(compileError.file, compileError.line, compileError.column)}
          </Anchor>
          <Text size="sm">{compileError.message}</Text>
        </Alert>
      ) : (
        <ProblemAlert error={save.error} />
      )}
      <div className={classes.columns}>
        <FileList
          stored={stored}
          edited={edited}
          shown={shown}
          fileWithError={compileError?.file}
          isEditable={isWritable}
          onShow={setShown}
          onAdd={name => change({ ...edited, [name]: '' }, name)}
          onRename={(from, to) => change(renamed(edited, from, to), shown === from ? to : shown)}
          onRemove={name => change(without(edited, name))}
        />
        <div className={classes.editor}>
          {edited[shown] !== undefined && (
            <div className={classes.place} style={placeOf(edited[shown])}>
              <Suspense fallback={<Loader size="sm" role="status" aria-label={t.common.loading} />}>
                <CodeEditor
                  key={`${shown} ${revision}`}
                  fileName={shown}
                  text={edited[shown]}
                  label={t.plugins.sourceOf(shown)}
                  describedBy={help}
                  isReadOnly={!isWritable}
                  compileError={compileError?.file === shown ? compileError : undefined}
                  errorVisit={errorVisit}
                  onChange={text => setEdited(old => ({ ...old, [shown]: text }))}
                  onSave={saveNow}
                />
              </Suspense>
            </div>
          )}
          <Text id={help} size="xs" c="dimmed" mt={6}>
            {isWritable ? t.plugins.editorKeys : t.plugins.readOnlyKeys}
          </Text>
        </div>
      </div>
      {isWritable && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            {t.plugins.changedFiles(changedCount)}
          </Text>
          <Group gap="xs">
            <Button
              variant="subtle"
              color="gray"
              disabled={changedCount === 0}
              aria-expanded={isComparing}
              onClick={() => setIsComparing(!isComparing)}
            >
              {isComparing ? t.plugins.hideChanges : t.plugins.showChanges}
            </Button>
            <Button variant="default" disabled={changedCount === 0} onClick={discard}>
              {t.plugins.discard}
            </Button>
            <Button loading={save.isPending} disabled={changedCount === 0} onClick={saveNow} rightSection={<SaveKey />}>
              {t.plugins.compile}
            </Button>
          </Group>
        </Group>
      )}
      {isComparing && changedCount > 0 && <Changes changes={changes} stored={stored} />}
      {leaving.status === 'blocked' && (
        <ConfirmDialog
          title={t.plugins.leaveTitle}
          question={t.plugins.leaveQuestion}
          cancelLabel={t.plugins.stay}
          label={t.plugins.leave}
          onConfirm={leaving.proceed}
          onClose={leaving.reset}
        />
      )}
    </Stack>
  )
}

const SaveKey = () => (
  <Kbd size="xs" aria-hidden="true" visibleFrom="sm">
    {navigator.userAgent.includes('Mac') ? '⌘S' : 'Ctrl S'}
  </Kbd>
)

const tabOf = (search: object): unknown => ('tab' in search ? search.tab : undefined)

const placeOf = (text: string) => ({ '--lines': text.split('\n').length }) as CSSProperties

const sameFiles = (one: Files, other: Files): boolean => Object.keys(changesOf(one, other)).length === 0

const firstOf = (files: Files): string => {
  const names = Object.keys(files).sort()
  return names.find(name => name.startsWith('index.')) ?? names[0] ?? ''
}

function useSave(organizationId: string, plugin: Plugin, onSaved: (source: Files) => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  return useMutation({
    mutationFn: (changes: Readonly<Record<string, string | null>>) =>
      call(routes.plugins.updateSource, {
        params: { ...scope(organizationId), id: String(plugin.id) },
        // File names are keys next to the fields of a plugin.
        body: changes as PluginWrite,
      }),
    onSuccess: async ({ source }) => {
      onSaved(source)
      notify.success({ message: t.plugins.compiled })
      queries.setQueryData(sourceQuery(call, organizationId, plugin).queryKey, source)
      await queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
    },
  })
}

function Changes({ changes, stored }: { changes: Readonly<Record<string, string | null>>; stored: Files }) {
  const t = useMessages()
  return (
    <section aria-label={t.plugins.showChanges}>
      <Stack>
        {Object.entries(changes).map(([name, text]) => (
          <div key={name}>
            <Title order={2} size="h3" mb={4} ff="monospace">
              {name}
            </Title>
            <TextDiff before={stored[name] ?? ''} after={text ?? ''} isCode />
          </div>
        ))}
      </Stack>
    </section>
  )
}
