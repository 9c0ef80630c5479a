import { createContext, type RefObject, useContext, useEffect, useState } from 'react'

/** Whether the content is visible yet. Before that, nothing in it can take the focus. */
export const VisibilityContext = createContext(true)

/**
 * Whether the content has not been rendered completely yet. Once rendered it stays mounted, with everything typed
 * into it, while data is fetched again.
 */
export function useIsOpening(isPending: boolean): boolean {
  const isShown = useContext(VisibilityContext)
  const [isOpening, setIsOpening] = useState(true)
  if (isOpening && isShown && !isPending) setIsOpening(false)
  return isOpening
}

/** A page that was opened to fill in a form starts at its first field. */
export function useFirstFocus(field: RefObject<HTMLElement | null>, isWanted = true): void {
  const isShown = useContext(VisibilityContext)
  useEffect(() => {
    if (isShown && isWanted) field.current?.focus({ preventScroll: true })
  }, [field, isShown, isWanted])
}
