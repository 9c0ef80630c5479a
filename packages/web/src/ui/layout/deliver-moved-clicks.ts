/** What a click acts on. */
const clickable = 'button, a[href], label, summary, input[type="checkbox"], input[type="radio"], [role="option"]'
/** A hand that holds still moves the pointer by less. */
const stillPixels = 4

interface Press {
  readonly element: HTMLElement
  readonly x: number
  readonly y: number
}

/**
 * A browser drops a click when content that arrives between press and release moves the button away from a pointer that
 * holds still. The pressed button gets its click here.
 */
export function deliverMovedClicks(document: Document): void {
  let press: Press | undefined
  const start = ({ isPrimary, button, target, clientX: x, clientY: y }: PointerEvent) => {
    const element = target instanceof Element ? target.closest<HTMLElement>(clickable) : null
    press = isPrimary && button === 0 && element ? { element, x, y } : undefined
  }
  const end = ({ target, clientX, clientY }: PointerEvent) => {
    if (!press) return
    const { element, x, y } = press
    press = undefined
    const isStill = Math.hypot(clientX - x, clientY - y) < stillPixels
    // Otherwise the browser clicks it itself, or the pointer was moved away on purpose.
    if (isStill && element.isConnected && !(target instanceof Node && element.contains(target))) element.click()
  }
  document.addEventListener('pointerdown', start, { capture: true })
  document.addEventListener('pointerup', end, { capture: true })
  document.addEventListener('pointercancel', () => (press = undefined), { capture: true })
}
