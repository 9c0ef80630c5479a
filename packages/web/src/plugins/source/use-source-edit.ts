import { type Plugin, type PluginWrite, routes } from '@halyard/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { scope, sourceQuery } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'
import { readCompileError } from './compile-error.ts'
import { changesOf, type Files, starter } from './edited-files.ts'

export interface SourceProps extends PluginProps {
  initial: Files
  isNew: boolean
}

export type SourceEdit = ReturnType<typeof useSourceEdit>

/** The edited files of a plugin, the one that is shown, and saving, which compiles them. */
export function useSourceEdit(
  { plugin, organizationId, isWritable, initial, isNew }: SourceProps,
  onSaved: () => void,
) {
  const isStarting = isNew && isWritable && plugin.plugin_type === 'source'
  const [stored, setStored] = useState<Files>(initial)
  const [edited, setEdited] = useState<Files>(() => (isStarting ? starter(plugin.name) : initial))
  const [shown, setShown] = useState(() => firstOf(edited))
  /** Incremented to recreate the editor with the stored files. */
  const [revision, setRevision] = useState(0)
  const [errorVisit, setErrorVisit] = useState(0)
  const changes = useMemo(() => changesOf(stored, edited), [stored, edited])
  const isChanged = Object.keys(changes).length > 0
  const save = useSave(organizationId, plugin, source => {
    setStored(source)
    onSaved()
  })
  const compileError = useMemo(() => readCompileError(save.error, Object.keys(edited)), [save.error, edited])
  const change = (files: Files, show = shown) => {
    setEdited(files)
    setShown(files[show] === undefined ? firstOf(files) : show)
  }
  return {
    stored,
    edited,
    shown,
    changes,
    revision,
    compileError,
    errorVisit,
    error: save.error,
    isSaving: save.isPending,
    isStarting,
    // An untouched template is no unsaved change.
    isOwnWork: isChanged && !(isStarting && sameFiles(edited, starter(plugin.name))),
    change,
    show: setShown,
    write: (text: string) => setEdited(old => ({ ...old, [shown]: text })),
    save() {
      if (isWritable && isChanged && !save.isPending) save.mutate(changes)
    },
    discard() {
      change(stored)
      setRevision(old => old + 1)
      save.reset()
    },
    visitError() {
      if (compileError) setShown(compileError.file)
      setErrorVisit(old => old + 1)
    },
  }
}

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
