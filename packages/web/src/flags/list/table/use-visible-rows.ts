import { type RefObject, useCallback, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { type RowRange, rangeAt, withinCount } from './row-range.ts'

interface Options {
  readonly count: number
  /** All rows have the same height. */
  readonly rowPixels: number
  /** The height of the list until it is measured, so that the first render has the rows that will be visible. */
  readonly heightPixels: number
}

/** Which rows of a long list are to be rendered, as it is scrolled and resized. */
export function useVisibleRows(scroller: RefObject<HTMLElement | null>, { count, rowPixels, heightPixels }: Options) {
  const [range, setRange] = useState<RowRange>(() =>
    rangeAt({ top: 0, height: heightPixels, rowPixels, overscan: overscanRows }),
  )
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const update = () => {
      const { scrollTop: top, clientHeight: height } = element
      const next = rangeAt({ top, height, rowPixels, overscan: overscanRows })
      setRange(old => (old.first === next.first && old.last === next.last ? old : next))
    }
    // At once: a frame without the rows would flicker.
    const onScroll = () => flushSync(update)
    element.addEventListener('scroll', onScroll, { passive: true })
    const observer = new ResizeObserver(update)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, rowPixels])

  /** Scrolls as little as is needed to show a row. */
  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current
      if (!element) return
      const [top, bottom] = [index * rowPixels, (index + 1) * rowPixels]
      if (top < element.scrollTop) element.scrollTop = top
      else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
    },
    [scroller, rowPixels],
  )
  return { ...withinCount(range, count), scrollTo }
}

/** Rows beyond the visible ones, so that scrolling shows no gap. */
const overscanRows = 6
