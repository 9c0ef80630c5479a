import { type ActivityEntry, routes } from '@halyard/contract'
import { useMemo } from 'react'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useApiQuery } from '../../services/use-api-query.ts'

/** A change of who gets the flag. */
export interface RolloutStep {
  readonly id: number
  readonly at: string
  readonly text: string
}

const entriesReadMax = '100'
/** More would hide the chart behind their lines. */
const stepsMax = 12

/** When the flag was switched and when its conditions changed, oldest first. Pushed like its history. */
export function useRolloutSteps(projectId: string, flagId: number) {
  const t = useMessages()
  const { percent } = useFormats()
  const history = useApiQuery(['flag-history', projectId, String(flagId), 'rollout'], routes.flags.activity, {
    params: { project_id: projectId, id: String(flagId) },
    query: { limit: entriesReadMax },
  })
  const { data, error, refetch } = history
  const steps = useMemo(() => data && rolloutSteps(data.results, t, percent), [data, t, percent])
  return { data: steps, error, refetch }
}

/** From entries, newest first. */
export function rolloutSteps(
  entries: readonly ActivityEntry[],
  t: Messages,
  percent: (value: number) => string,
): readonly RolloutStep[] {
  return entries
    .flatMap(entry => {
      const what = sentenceOf(entry, t, percent)
      const { first_name: name, is_system: isSystem } = entry.user as { first_name?: string; is_system?: boolean }
      const who = isSystem || !name ? 'Halyard' : name
      return what === undefined ? [] : [{ id: entry.id, at: entry.created_at, text: `${who} ${what}` }]
    })
    .slice(0, stepsMax)
    .reverse()
}

function sentenceOf({ activity, detail }: ActivityEntry, t: Messages, percent: (value: number) => string) {
  if (activity === 'created') return t.charts.created
  const changeOf = (name: string) => detail.changes?.find(({ field, action }) => field === name && action === 'changed')
  const switched = changeOf('active')
  if (switched) return switched.after ? t.charts.turnedOn : t.charts.turnedOff
  const filters = changeOf('filters')
  if (!filters) return undefined
  const [before, after] = [filters.before, filters.after].map(value => rolloutsOf(value).map(percent).join(', '))
  return before === after ? t.charts.conditions : t.charts.rollout(before || '–', after || '–')
}

function rolloutsOf(filters: unknown): number[] {
  const { groups } = (filters ?? {}) as { groups?: unknown }
  return Array.isArray(groups) ? groups.map(group => group?.rollout_percentage ?? 100) : []
}
