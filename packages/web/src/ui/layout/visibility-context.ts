import { createContext, useContext, useState } from 'react'

/** Whether what is inside can be seen yet. Before that nothing in it can take the focus. */
export const VisibilityContext = createContext(true)

/**
 * Whether this has never been ready to be seen as a whole. Once it was, it stays, with everything that somebody has typed: what is asked for again
 * later finds its place.
 */
export function useIsOpening(isPending: boolean): boolean {
  const isShown = useContext(VisibilityContext)
  const [isOpening, setIsOpening] = useState(true)
  if (isOpening && isShown && !isPending) setIsOpening(false)
  return isOpening
}
