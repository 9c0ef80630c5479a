import { type ActivityEntry, type FlagSummary, routes } from '@halyard/contract'
import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type FlagPages, listKey } from '../../flags/flag-cache.ts'
import { describeState } from '../../flags/flag-summary.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { usePlugins } from '../../plugins/plugin-queries.ts'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useCurrentScope } from '../../services/current-scope.ts'
import { useMembers } from '../../services/member-queries.ts'
import { useOfferedActions } from '../../services/palette-actions.ts'
import { canWrite, isAdmin } from '../../services/permissions.ts'
import { readRecent } from '../../services/recent-items.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useProject, useProjects } from '../../services/session-queries.ts'
import { isWithin, useEntryGroups, useOrganizationTabs, useProjectTabs } from '../navigation-entries.ts'
import { type FlagCommand, readFlagCommand } from './flag-command.ts'
import { fuzzyFilter } from './fuzzy-match.ts'
import type { ToggleRequest } from './palette-toggle.tsx'

export interface PaletteItem {
  readonly id: string
  readonly label: string
  /** Shown in red. */
  readonly isDangerous?: boolean
  /** The kind of result. */
  readonly kind: string
  go(): unknown
}

export const debuggerId = 'debugger'
const perKindMax = 6
const matchesMax = '50'
/** More, because the best of them are chosen here. */
const matchesByLettersMax = '200'
const searchCharactersMin = 2
const waitMilliseconds = 120
const hourMilliseconds = 3_600_000

/** Everything that matches the text, best kinds first. Without a text: recent pages, actions and pages. */
export function usePaletteItems(
  text: string,
  onToggle: (request: ToggleRequest) => void,
): { items: readonly PaletteItem[]; isSettled: boolean } {
  const t = useMessages()
  const navigate = useNavigate()
  const { projectId, organizationId } = useCurrentScope()
  const query = text.trim()
  const open = (path: string) => navigate({ to: path as never })
  const command = projectId === undefined ? undefined : readFlagCommand(query, t)
  const matches = useProjectMatches(projectId, command?.text ?? query, command)
  const stateOf = useFlagState(projectId)
  const members = useMembers(organizationId).data ?? []
  const plugins = usePlugins(organizationId ?? '').data ?? []
  const cohorts = useCohorts(projectId ?? '')
  const projects = useProjects().data ?? []
  const actions = useActions(projectId, organizationId)
  const pages = usePages(projectId, organizationId)
  const docs = useDocsPages()
  const lately = useLateChanges(projectId, command !== undefined && !command.isTurningOn)
  const recent = useMemo(() => readRecent(localStorage), [])
  const recentItems = recent.map(({ path, label, kind }) => ({
    id: `recent ${path}`,
    label,
    kind: `${t.palette.recent} · ${t.palette.kinds[kind]}`,
    go: () => open(path),
  }))
  if (query === '') return { items: [...recentItems, ...actions, ...pages], isSettled: true }

  const project = `/project/${projectId}`
  const fit = <T>(all: readonly T[], textOf: (item: T) => string) => fuzzyFilter(query, all, textOf, perKindMax)
  const flags = fuzzyFilter(command?.text ?? query, matches.flags, ({ key, name }) => `${key} ${name}`, perKindMax)
  const toggles =
    command && projectId !== undefined
      ? togglesOf(flags, command).map(flag => ({
          id: `action toggle ${flag.id}`,
          label: flag.active ? t.palette.turnOff(flag.key) : t.palette.turnOn(flag.key),
          kind: stateOf(flag),
          isDangerous: flag.active,
          go: () => onToggle({ projectId, flag }),
        }))
      : []
  const items: PaletteItem[] = [
    ...toggles,
    ...flags.map(flag => ({
      id: `flag ${flag.id}`,
      label: flag.key,
      kind: `${t.palette.kinds.flag} · ${stateOf(flag)}`,
      go: () => open(`${project}/flags/${flag.id}`),
    })),
    ...lately,
    ...fit(actions, ({ label }) => label).filter(({ id }) => toggles.every(toggle => toggle.id !== id)),
    ...fit(cohorts, ({ name }) => name).map(({ id, name }) => ({
      id: `cohort ${id}`,
      label: name,
      kind: t.palette.kinds.cohort,
      go: () => open(`${project}/cohorts/${id}`),
    })),
    ...matches.people.map(({ uuid, name }) => ({
      id: `person ${uuid}`,
      label: name,
      kind: t.palette.kinds.person,
      go: () => open(`${project}/persons/${uuid}`),
    })),
    ...fit(plugins, ({ name }) => name ?? '').map(({ id, name }) => ({
      id: `plugin ${id}`,
      label: name ?? `#${id}`,
      kind: t.palette.kinds.plugin,
      go: () => open(`/organization/${organizationId}/plugins/${id}`),
    })),
    ...fit(members, ({ user }) => `${user.first_name} ${user.email}`).map(({ id, user }) => ({
      id: `member ${id}`,
      label: user.first_name ? `${user.first_name} (${user.email})` : user.email,
      kind: t.palette.member,
      go: () => open(`/organization/${organizationId}/settings/members`),
    })),
    ...fit(pages, ({ label }) => label),
    ...fit(docs, ({ title }) => title).map(({ url, title }) => ({
      id: `docs ${url}`,
      label: title,
      kind: t.palette.docs,
      go: () => window.location.assign(url),
    })),
    ...fit(
      projects.filter(({ id }) => String(id) !== projectId),
      ({ name }) => name,
    ).map(({ id, name }) => ({
      id: `project ${id}`,
      label: name,
      kind: t.shell.project,
      go: () => open(`/project/${id}/flags`),
    })),
  ]
  // Last, and only for what can be a distinct id: it must not displace a result that is still loading.
  if (projectId !== undefined && matches.isSettled && !command && !/\s/.test(query)) {
    items.push({
      id: debuggerId,
      label: t.palette.debug(query),
      kind: t.shell.debugger,
      go: () => navigate({ to: '/project/$projectId/debugger', params: { projectId }, search: { id: query } }),
    })
  }
  return { items, isSettled: matches.isSettled }
}

/** When something has to be turned off: what was changed in the last hour, with names. */
function useLateChanges(projectId: string | undefined, isWanted: boolean): PaletteItem[] {
  const t = useMessages()
  const { ago } = useFormats()
  const call = useCall()
  const navigate = useNavigate()
  const [since] = useState(() => new Date(Date.now() - hourMilliseconds).toISOString())
  const { data } = useQuery({
    queryKey: ['activity', projectId, 'last hour', since],
    queryFn: ({ signal }) =>
      call(routes.flags.projectActivity, {
        params: { project_id: projectId ?? '' },
        query: { date_from: since, limit: String(perKindMax) },
        signal,
      }),
    enabled: isWanted && projectId !== undefined,
  })
  if (!isWanted || projectId === undefined) return []
  const entries = (data?.results ?? []) as readonly ActivityEntry[]
  const verbs: Record<string, string> = t.history.verbs
  return entries.map(({ id, item_id: flagId, activity, created_at, detail, user }) => ({
    id: `change ${id}`,
    label: `${(user as { first_name?: string }).first_name || 'Halyard'} ${verbs[activity] ?? activity} ${detail.name}`,
    kind: ago(created_at, Date.now()),
    go: () =>
      navigate({
        to: '/project/$projectId/flags/$flagId',
        params: { projectId, flagId: String(flagId) },
        search: { tab: 'history' },
      }),
  }))
}

/** The flags that the command can change. */
const togglesOf = (flags: readonly FlagSummary[], { isTurningOn }: FlagCommand): FlagSummary[] =>
  flags.filter(flag => flag.can_edit && !flag.archived && !flag.deleted && flag.active !== isTurningOn)

function useFlagState(projectId: string | undefined): (flag: FlagSummary) => string {
  const t = useMessages()
  const { percent } = useFormats()
  const groupTypes = useProject(projectId ?? '')?.group_types ?? {}
  return flag => describeState(flag, { t, percent, groupTypes }).text
}

function useActions(projectId: string | undefined, organizationId: string | undefined): PaletteItem[] {
  const t = useMessages()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const offered = useOfferedActions()
  const level = useMembershipLevel(organizationId)
  const go = (path: string) => () => navigate({ to: path as never })
  const action = (id: string, label: string, run: () => unknown, isDangerous = false): PaletteItem => ({
    id: `action ${id}`,
    label,
    kind: t.palette.action,
    isDangerous,
    go: run,
  })
  return [
    ...offered.map(({ id, label, run, isDangerous }) => action(id, label, run, isDangerous)),
    ...(projectId === undefined || !canWrite(level)
      ? []
      : [
          action('new-flag', t.flags.create, go(`/project/${projectId}/flags/new`)),
          action('new-cohort', t.cohorts.create, go(`/project/${projectId}/cohorts/new`)),
          action('import', t.imports.open, go(`/project/${projectId}/settings/import`)),
        ]),
    ...(isAdmin(level)
      ? [action('invite', t.members.invite, go(`/organization/${organizationId}/settings/members`))]
      : []),
    action('light', t.palette.theme(t.shell.light), () => setColorScheme('light')),
    action('dark', t.palette.theme(t.shell.dark), () => setColorScheme('dark')),
  ]
}

function usePages(projectId: string | undefined, organizationId: string | undefined): PaletteItem[] {
  const t = useMessages()
  const navigate = useNavigate()
  const params = { projectId, organizationId }
  const links = [...useEntryGroups().flatMap(({ entries }) => entries), ...useProjectTabs(), ...useOrganizationTabs()]
  const pages = [
    ...new Map(links.filter(link => isWithin(link, params)).map(link => [link.to, link])).values(),
    ...(projectId === undefined ? [] : [{ to: '/project/$projectId/changes', label: t.timeline.title }]),
    { to: '/account', label: t.shell.account },
  ]
  return [
    ...pages.map(({ to, label }) => ({
      id: to,
      label,
      kind: t.palette.page,
      go: () => navigate({ to: to as never, params: params as never }),
    })),
    { id: 'guide', label: t.shell.documentation, kind: t.palette.docs, go: () => window.location.assign('/docs/') },
    { id: 'docs', label: t.shell.apiDocs, kind: t.palette.docs, go: () => window.location.assign('/api/docs/') },
  ]
}

/** The pages of the docs site. It belongs to no API, and a server that was not built has none. */
function useDocsPages(): readonly { readonly url: string; readonly title: string }[] {
  const { data } = useQuery({
    queryKey: ['docs-pages'],
    queryFn: async ({ signal }): Promise<{ url: string; title: string }[]> => {
      const response = await fetch('/docs/pages.json', { signal })
      return response.ok ? await response.json() : []
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return data ?? []
}

/** The server searches all flags by words and by letters, and people by words. Flags that are loaded are matched at once. */
function useProjectMatches(projectId: string | undefined, text: string, command: FlagCommand | undefined) {
  const call = useCall()
  const queries = useQueryClient()
  const [search] = useDebouncedValue(text, waitMilliseconds)
  const params = { project_id: projectId ?? '' }
  // A command that names no flag yet can be meant for any that it would change.
  const active = command && search === '' ? { active: String(!command.isTurningOn) } : {}
  const flags = useQuery({
    queryKey: ['flags-found', projectId, 'palette', search, active],
    queryFn: ({ signal }) =>
      // Sorted by key, so that an exact match is included.
      call(routes.flagList.list, { params, query: { search, ...active, order: 'key', limit: matchesMax }, signal }),
    enabled: projectId !== undefined && (search !== '' || command !== undefined),
    placeholderData: keepPreviousData,
  })
  const byLetters = useQuery({
    queryKey: ['flags-found', projectId, 'palette letters', search],
    queryFn: ({ signal }) =>
      call(routes.flagList.list, {
        params,
        query: { letters: search, order: 'key', limit: matchesByLettersMax },
        signal,
      }),
    enabled: projectId !== undefined && search !== '',
    placeholderData: keepPreviousData,
  })
  const people = useQuery({
    queryKey: ['persons', projectId, 'palette', search],
    queryFn: ({ signal }) =>
      call(routes.persons.list, { params, query: { search, limit: String(perKindMax) }, signal }),
    enabled: projectId !== undefined && search.length >= searchCharactersMin,
    refetchInterval: false,
  })
  const loaded = queries.getQueryData<FlagPages>(listKey(projectId ?? '', 'live'))
  const byId = new Map<number, FlagSummary>()
  for (const flag of byLetters.data?.results ?? []) byId.set(flag.id, flag)
  for (const flag of loaded?.pages.flatMap(({ results }) => results) ?? []) byId.set(flag.id, flag)
  for (const flag of flags.data?.results ?? []) byId.set(flag.id, flag)
  return {
    flags: [...byId.values()],
    people: people.data?.results ?? [],
    isSettled: search === text && !flags.isFetching && !people.isFetching && !byLetters.isFetching,
  }
}
