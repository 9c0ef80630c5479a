import { useEffect, useRef, useSyncExternalStore } from 'react'

/** Something the page on screen can do. */
export interface PaletteAction {
  readonly id: string
  readonly label: string
  readonly isDangerous?: boolean
  run(): unknown
}

let actions: readonly PaletteAction[] = []
const listeners = new Set<() => void>()

function replace(next: readonly PaletteAction[]): void {
  actions = next
  for (const listener of listeners) listener()
}

/** Offers actions in the command palette for as long as the component is mounted. */
export function useOfferActions(offered: readonly PaletteAction[]): void {
  const latest = useRef(offered)
  useEffect(() => {
    latest.current = offered
  })
  const names = offered.map(({ id, label }) => `${id} ${label}`).join('\n')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the handlers are read when an action runs.
  useEffect(() => {
    const own = latest.current.map(({ id, label, isDangerous = false }) => ({
      id,
      label,
      isDangerous,
      run: () => latest.current.find(action => action.id === id)?.run(),
    }))
    replace([...actions, ...own])
    return () => replace(actions.filter(action => !own.some(each => each === action)))
  }, [names])
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useOfferedActions = (): readonly PaletteAction[] => useSyncExternalStore(subscribe, () => actions)
