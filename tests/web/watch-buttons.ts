/** A script that records every matching button that moves while it is shown, in `window.moves`. */
export const watchButtons = (selector: string): string => `window.moves = []
{
  const places = new Map()
  const look = () => {
    for (const button of document.querySelectorAll(${JSON.stringify(selector)})) {
      const { x, y } = button.getBoundingClientRect()
      const before = places.get(button)
      if (before && Math.hypot(x - before.x, y - before.y) > 1) {
        window.moves.push((button.textContent || button.ariaLabel) + ' by ' + (x - before.x) + ', ' + (y - before.y))
      }
      places.set(button, { x, y })
    }
    requestAnimationFrame(look)
  }
  look()
}`
