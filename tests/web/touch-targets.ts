import type { Page } from 'playwright-core'

/** Controls with less than 24 pixels to press, across or down, together with their labels (WCAG 2.5.8). */
export const smallTargets = (page: Page): Promise<string[]> => page.evaluate<string[]>(`(${findSmallTargets})(24)`)

// As text: it runs in the browser.
const findSmallTargets = `least => {
  const selector = 'a[href], button, input, select, textarea, summary, [role=slider]'
  // The link that skips the navigation is for keyboards, and out of view until it has the focus.
  const isOutOfUse = each =>
    each.matches(':disabled, [type=hidden], [type=file], [data-skip]') || each.closest('[aria-hidden=true], [inert]')
  // Of a switch or a segment, only the label is drawn.
  const areaOf = each => each.getBoundingClientRect().width > 1 ? each : each.labels?.[0] ?? each
  const isVisible = each => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().width > 1
  /** How far the control goes from a point in one direction; something else may cover it. */
  const extent = (each, x, y, dx, dy) => {
    const presses = at => at && (each.contains(at) || at.closest('label')?.control === each)
    let distance = 0
    while (distance < least && presses(document.elementFromPoint(x + dx * distance, y + dy * distance))) distance++
    return distance
  }
  const sizeOf = each => {
    areaOf(each).scrollIntoView({ block: 'center', inline: 'center' })
    const { left, top, width, height } = areaOf(each).getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const down = extent(each, x, y, 0, 1) + extent(each, x, y, 0, -1)
    return [extent(each, x, y, 1, 0) + extent(each, x, y, -1, 0), down]
  }
  return [...document.querySelectorAll(selector)]
    // A link of several lines is large.
    .filter(each => !isOutOfUse(each) && isVisible(areaOf(each)) && areaOf(each).getClientRects().length === 1)
    .map(each => [each, sizeOf(each)])
    .filter(([, size]) => Math.min(...size) < least)
    .map(([each, size]) => size.join('×') + ' ' + each.outerHTML.slice(0, 200))
}`
