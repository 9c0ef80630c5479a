import { routes } from '@halyard/contract'
import { Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCurrentScope } from '../services/current-scope.ts'
import { useCall } from '../services/services.ts'
import { useProjects } from '../services/session-queries.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { SearchIcon } from '../ui/icons.tsx'
import { useEntries } from './navigation.tsx'
import classes from './shell.module.css'

interface Target {
  readonly id: string
  readonly label: string
  /** The kind of result. */
  readonly kind: string
  go(): unknown
}

const debuggerId = 'debugger'
const flagsMax = 8
const flagsAskedMax = '50'
const waitMilliseconds = 120

/** A search field with results; arrow keys choose, Enter opens. */
export function PaletteDialog({ onClose }: { onClose: () => void }) {
  const t = useMessages()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useId()
  const targets = useTargets(text)
  const at = Math.min(chosen, targets.length - 1)
  const optionId = (index: number) => `${list}-${index}`
  useEffect(() => {
    // Newer browsers return a promise, which an effect must not return.
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, at])
  const go = (target: Target | undefined) => {
    if (!target) return
    onClose()
    target.go()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setChosen(Math.max(0, Math.min(targets.length - 1, at + step)))
    if (event.key === 'Enter') go(targets[at])
    if (step !== 0 || event.key === 'Enter') event.preventDefault()
  }
  return (
    <Dialog title={t.palette.title} onClose={onClose} size="lg">
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={t.palette.title}
        aria-expanded={targets.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        {...(targets.length > 0 && { 'aria-activedescendant': optionId(at) })}
        placeholder={t.palette.hint}
        leftSection={<SearchIcon size={16} />}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={t.palette.title} className={classes.targets}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={target.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === at}
            className={classes.target}
            onClick={() => go(target)}
          >
            <span>{target.label}</span>
            <Text size="xs" c="dimmed" span>
              {target.kind}
            </Text>
          </div>
        ))}
      </div>
      <Text size="sm" c="dimmed" role="status" mt="xs">
        {text !== '' && targets.every(({ id }) => id === debuggerId) ? t.palette.noResults : ''}
      </Text>
    </Dialog>
  )
}

function useTargets(text: string): readonly Target[] {
  const t = useMessages()
  const navigate = useNavigate()
  const { projectId, organizationId } = useCurrentScope()
  const { inProject, inOrganization } = useEntries()
  const projects = useProjects().data ?? []
  const { flags, isSettled } = useFoundFlags(projectId, text)
  const id = text.trim()
  const fits = (label: string) => label.toLowerCase().includes(id.toLowerCase())
  const pages = [
    ...(projectId === undefined ? [] : inProject.map(entry => ({ ...entry, params: { projectId } }))),
    ...(organizationId === undefined ? [] : inOrganization.map(entry => ({ ...entry, params: { organizationId } }))),
    { to: '/account', label: t.shell.account, params: {} },
  ]
  return [
    ...flags.map(({ id: flagId, key }) => ({
      id: `flag ${flagId}`,
      label: key,
      kind: t.palette.flag,
      go: () => navigate({ to: `/project/${projectId}/flags/${flagId}` as never }),
    })),
    ...pages
      .filter(({ label }) => fits(label))
      .map(({ to, label, params }) => ({
        id: to,
        label,
        kind: t.palette.page,
        go: () => navigate({ to: to as never, params: params as never }),
      })),
    ...projects
      .filter(project => String(project.id) !== projectId && fits(project.name))
      .slice(0, text === '' ? 3 : 8)
      .map(({ id: other, name }) => ({
        id: `project ${other}`,
        label: name,
        kind: t.shell.project,
        go: () => navigate({ to: `/project/${other}/flags` as never }),
      })),
    // Any text may be a distinct id. Listed last, so that it does not displace a flag that is still loading.
    ...(projectId === undefined || id === '' || !isSettled
      ? []
      : [
          {
            id: debuggerId,
            label: t.palette.debug(id),
            kind: t.shell.debugger,
            go: () => navigate({ to: '/project/$projectId/debugger', params: { projectId }, search: { id } }),
          },
        ]),
  ]
}

/** Searches on the server, so that it is quick on every page and with any number of flags. */
function useFoundFlags(projectId: string | undefined, text: string) {
  const call = useCall()
  const [search] = useDebouncedValue(text.trim(), waitMilliseconds)
  const found = useQuery({
    queryKey: ['flags-found', projectId, 'palette', search],
    queryFn: ({ signal }) =>
      call(routes.flags.list, {
        params: { project_id: projectId ?? '' },
        // Sorted by key, so that an exact match is included.
        query: { search, order: 'key', limit: flagsAskedMax },
        signal,
      }),
    enabled: projectId !== undefined && search !== '',
    placeholderData: keepPreviousData,
  })
  return {
    flags: search === '' || text.trim() === '' ? [] : nearest(found.data?.results ?? [], search),
    isSettled: search === text.trim() && !found.isFetching,
  }
}

/** An exact match first, then prefixes. */
function nearest<T extends { readonly key: string }>(flags: readonly T[], text: string): T[] {
  const wanted = text.toLowerCase()
  const distance = ({ key }: T) => (key.toLowerCase() === wanted ? 0 : key.toLowerCase().startsWith(wanted) ? 1 : 2)
  return flags.toSorted((a, b) => distance(a) - distance(b)).slice(0, flagsMax)
}
