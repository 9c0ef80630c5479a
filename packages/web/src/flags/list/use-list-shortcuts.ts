import { useEffect, useLayoutEffect, useRef } from 'react'

interface ListKeys {
  readonly count: number
  readonly cursor: number
  setCursor(index: number): void
  onOpen(index: number): void
  onSelect(index: number): void
  onToggle(index: number): void
  onSearch(): void
  onCreate(): void
  onUndo(): void
  onHelp(): void
  onClear(): void
}

/** Single-key shortcuts of the list. They are inactive while a field has the focus or a dialog is open. */
export function useListShortcuts(keys: ListKeys): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  // Registered in the capture phase before open dialogs: the Escape that closes a dialog must not reach the list.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusyElsewhere(event.target)) return
      const { count, cursor, setCursor, ...on } = latest.current
      const move = (step: number) => setCursor(Math.max(0, Math.min(count - 1, cursor + step)))
      const actions: Record<string, () => void> = {
        j: () => move(1),
        k: () => move(-1),
        e: () => cursor >= 0 && on.onOpen(cursor),
        x: () => on.onSelect(cursor),
        t: () => on.onToggle(cursor),
        '/': on.onSearch,
        n: on.onCreate,
        u: on.onUndo,
        '?': on.onHelp,
        Escape: on.onClear,
      }
      // On a link the browser handles Enter.
      if (event.key === 'Enter' && event.target === document.body && cursor >= 0) on.onOpen(cursor)
      const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [])
}

function isBusyElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"], dialog[open], [role="menu"], [role="listbox"]')) return true
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true
  return target instanceof HTMLInputElement && target.type !== 'checkbox'
}
