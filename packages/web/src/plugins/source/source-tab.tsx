import { Alert, Anchor, Button, Group, Kbd, Loader, Stack, Text, Title } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type CSSProperties, Suspense, useId, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { sourceQuery } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'
import { TextDiff } from '../text-diff.tsx'
import { type Files, renamed, without } from './edited-files.ts'
import { FileList } from './file-list.tsx'
import classes from './source-tab.module.css'
import { type SourceEdit, type SourceProps, useSourceEdit } from './use-source-edit.ts'

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

function SourceEditor(props: SourceProps) {
  const { plugin, isWritable } = props
  const t = useMessages()
  const [isComparing, setIsComparing] = useState(false)
  const edit = useSourceEdit(props, () => setIsComparing(false))
  const { stored, edited, shown, changes } = edit
  const isChanged = Object.keys(changes).length > 0
  useHotkeys([['mod+S', edit.save]], [])

  if (Object.keys(edited).length === 0 && !isWritable) return <Text size="sm">{t.plugins.noSource}</Text>
  return (
    <Stack>
      {edit.isStarting && isChanged && !edit.error && <Alert color="indigo">{t.plugins.starter}</Alert>}
      {isWritable && plugin.plugin_type !== 'source' && (
        <Text size="sm" c="dimmed">
          {t.plugins.editsEnd}
        </Text>
      )}
      <SaveError edit={edit} />
      <div className={classes.columns}>
        <FileList
          stored={stored}
          edited={edited}
          shown={shown}
          fileWithError={edit.compileError?.file}
          isEditable={isWritable}
          onShow={edit.show}
          onAdd={name => edit.change({ ...edited, [name]: '' }, name)}
          onRename={(from, to) => edit.change(renamed(edited, from, to), shown === from ? to : shown)}
          onRemove={name => edit.change(without(edited, name))}
        />
        <ShownFile edit={edit} isWritable={isWritable} />
      </div>
      {isWritable && <SaveBar edit={edit} isComparing={isComparing} onCompare={() => setIsComparing(!isComparing)} />}
      {isComparing && isChanged && <Changes changes={changes} stored={stored} />}
      <LeaveDialog isOwnWork={edit.isOwnWork} />
    </Stack>
  )
}

function SaveError({ edit: { error, compileError, visitError } }: { edit: SourceEdit }) {
  const t = useMessages()
  if (!compileError) return <ProblemAlert error={error} />
  return (
    <Alert color="red" role="alert" title={t.plugins.compileFailed}>
      <Anchor component="button" type="button" size="sm" underline="always" onClick={visitError}>
        {t.plugins.errorAt(compileError.file, compileError.line, compileError.column)}
      </Anchor>
      <Text size="sm">{compileError.message}</Text>
    </Alert>
  )
}

function ShownFile({ edit, isWritable }: { edit: SourceEdit; isWritable: boolean }) {
  const t = useMessages()
  const help = useId()
  const { shown, compileError } = edit
  const text = edit.edited[shown]
  return (
    <div className={classes.editor}>
      {text !== undefined && (
        <div className={classes.place} style={placeOf(text)}>
          <Suspense fallback={<Loader size="sm" role="status" aria-label={t.common.loading} />}>
            <CodeEditor
              key={`${shown} ${edit.revision}`}
              fileName={shown}
              text={text}
              label={t.plugins.sourceOf(shown)}
              describedBy={help}
              isReadOnly={!isWritable}
              compileError={compileError?.file === shown ? compileError : undefined}
              errorVisit={edit.errorVisit}
              onChange={edit.write}
              onSave={edit.save}
            />
          </Suspense>
        </div>
      )}
      <Text id={help} size="xs" c="dimmed" mt={6}>
        {isWritable ? t.plugins.editorKeys : t.plugins.readOnlyKeys}
      </Text>
    </div>
  )
}

const placeOf = (text: string) => ({ '--lines': text.split('\n').length }) as CSSProperties

interface SaveBarProps {
  edit: SourceEdit
  isComparing: boolean
  onCompare: () => void
}

function SaveBar({ edit, isComparing, onCompare }: SaveBarProps) {
  const t = useMessages()
  const changedCount = Object.keys(edit.changes).length
  return (
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
          onClick={onCompare}
        >
          {isComparing ? t.plugins.hideChanges : t.plugins.showChanges}
        </Button>
        <Button variant="default" disabled={changedCount === 0} onClick={edit.discard}>
          {t.plugins.discard}
        </Button>
        <Button loading={edit.isSaving} disabled={changedCount === 0} onClick={edit.save} rightSection={<SaveKey />}>
          {t.plugins.compile}
        </Button>
      </Group>
    </Group>
  )
}

const SaveKey = () => (
  <Kbd size="xs" aria-hidden="true" visibleFrom="sm">
    {navigator.userAgent.includes('Mac') ? '⌘S' : 'Ctrl S'}
  </Kbd>
)

/** Asks before the user leaves work that is not saved. */
function LeaveDialog({ isOwnWork }: { isOwnWork: boolean }) {
  const t = useMessages()
  const leaving = useBlocker({
    // The tabs of a plugin share a path and differ in the search parameter.
    shouldBlockFn: ({ current, next }) =>
      isOwnWork && (current.pathname !== next.pathname || tabOf(current.search) !== tabOf(next.search)),
    enableBeforeUnload: () => isOwnWork,
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  return (
    <ConfirmDialog
      question={t.plugins.leaveQuestion}
      detail={t.plugins.leaveDetail}
      cancelLabel={t.plugins.stay}
      label={t.plugins.leave}
      onConfirm={leaving.proceed}
      onClose={leaving.reset}
    />
  )
}

const tabOf = (search: object): unknown => ('tab' in search ? search.tab : undefined)

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
