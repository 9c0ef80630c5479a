import type { FlagSummary } from '@halyard/contract'
import { useCallback, useMemo, useState } from 'react'
import { useNotify } from '../../ui/feedback/notify.ts'
import type { FlagRows } from './flag-rows.ts'

/** The selected flags by id: a selection survives filtering, scrolling and live updates. */
export function useFlagSelection(rows: FlagRows | undefined) {
  const [selected, setSelected] = useState<ReadonlyMap<number, FlagSummary>>(new Map())
  const toggle = useCallback((flag: FlagSummary) => setSelected(previous => toggled(previous, flag)), [])
  const select = useCallback(
    (flags: readonly FlagSummary[]) => setSelected(new Map(flags.map(flag => [flag.id, flag]))),
    [],
  )
  const keep = useCallback(
    (ids: readonly number[]) => setSelected(previous => new Map([...previous].filter(([id]) => ids.includes(id)))),
    [],
  )
  const notify = useNotify()
  const selectAll = async () => {
    try {
      select((await rows?.readAll()) ?? [])
    } catch (error) {
      notify.fail(error)
    }
  }
  const clear = useCallback(() => setSelected(new Map()), [])
  const flags = useMemo(() => [...selected.values()].map(flag => rows?.find(flag.id) ?? flag), [rows, selected])
  return { selected, flags, toggle, selectAll, keep, clear }
}

export function toggled(selected: ReadonlyMap<number, FlagSummary>, flag: FlagSummary): Map<number, FlagSummary> {
  const next = new Map(selected)
  if (!next.delete(flag.id)) next.set(flag.id, flag)
  return next
}
