import type { Flag } from '@halyard/contract'
import { useCallback, useMemo, useState } from 'react'

/** The selected flags of the list, by id: a selection survives filtering and live updates. */
export function useFlagSelection(flags: readonly Flag[] | undefined) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set())
  const toggle = useCallback((flag: Flag) => setIds(previous => toggled(previous, flag.id)), [])
  const select = useCallback((selected: Iterable<number>) => setIds(new Set(selected)), [])
  const clear = useCallback(() => setIds(new Set()), [])
  const selectedFlags = useMemo(() => (flags ?? []).filter(flag => ids.has(flag.id)), [flags, ids])
  return { ids, flags: selectedFlags, toggle, select, clear }
}

export function toggled(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}
