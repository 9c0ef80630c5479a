import { createContext, useContext, useState } from 'react'

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
