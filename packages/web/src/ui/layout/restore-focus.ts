/** An element's position: its index among its siblings at each level. */
interface Place {
  readonly element: HTMLElement
  readonly levels: readonly { readonly parent: Element; readonly index: number }[]
}

const passing = '[role="dialog"], dialog, [role="menu"], [role="listbox"], [role="alert"]'
const tabbable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
/** Closing dialogs and menus restore the focus themselves; this gives them time. */
const patienceMilliseconds = 60

/**
 * When the focused row, dialog or button is removed, moves the focus to its nearest replacement, so that keyboard
 * users keep their place. Returns a stop function.
 */
export function restoreLostFocus(main: HTMLElement): () => void {
  let last: Place | undefined
  /** The last focused element, unless the user clicked on empty space. */
  let latest: Element | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement)) return
    latest = target
    // Transient popups are no place to return to.
    if (main.contains(target) && !target.closest(passing)) last = placeOf(target, main)
  }
  const onPointer = () => {
    latest = undefined
  }
  const check = () => {
    timer = undefined
    if (document.activeElement !== document.body || !latest || document.querySelector('[role="menu"]')) return
    if (isBusy(latest)) return
    const dialog = document.querySelector('dialog[open], [role="dialog"]')
    const next = dialog ? inside(dialog, latest) : last && (nearest(last) ?? headingOf(main))
    next?.focus()
  }
  const observer = new MutationObserver(() => {
    if (document.activeElement === document.body) timer ??= setTimeout(check, patienceMilliseconds)
  })
  document.addEventListener('focusin', onFocus)
  document.addEventListener('pointerdown', onPointer)
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] })
  return () => {
    document.removeEventListener('focusin', onFocus)
    document.removeEventListener('pointerdown', onPointer)
    observer.disconnect()
    clearTimeout(timer)
  }
}

/** A loading button is disabled for a moment and then gets the focus back. */
const isBusy = (element: Element): boolean => element.isConnected && element.matches('[data-loading]')

const isUsable = (element: Element): boolean => element.isConnected && !element.matches(':disabled')

const inside = (dialog: Element, latest: Element): HTMLElement | undefined =>
  latest instanceof HTMLElement && dialog.contains(latest) && isUsable(latest) ? latest : firstOf(dialog)

function placeOf(element: HTMLElement, main: HTMLElement): Place {
  const levels = []
  for (let at: Element = element; at !== main && at.parentElement; at = at.parentElement) {
    levels.push({ parent: at.parentElement, index: [...at.parentElement.children].indexOf(at) })
  }
  return { element, levels }
}

/** The element itself, else its replacement or successor, else its predecessor, searching outward. */
function nearest({ element, levels }: Place): HTMLElement | undefined {
  if (isUsable(element)) return element
  for (const { parent, index } of levels) {
    if (!parent.isConnected) continue
    const children = [...parent.children]
    const neighbor = firstIn(children.slice(index)) ?? firstIn(children.slice(0, index).reverse())
    if (neighbor) return neighbor
  }
  return undefined
}

/** For a page that has nothing else left, such as a list whose last row is gone. */
const headingOf = (main: HTMLElement): HTMLElement | undefined =>
  main.querySelector<HTMLElement>('h1[tabindex]') ?? undefined

function firstIn(elements: readonly Element[]): HTMLElement | undefined {
  for (const element of elements) {
    const focusable = firstOf(element)
    if (focusable) return focusable
  }
  return undefined
}

const firstOf = (element: Element): HTMLElement | undefined =>
  [element, ...element.querySelectorAll(tabbable)].find(
    (each): each is HTMLElement => each instanceof HTMLElement && each.matches(tabbable) && each.checkVisibility(),
  )
