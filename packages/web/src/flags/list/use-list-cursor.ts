import { useCallback, useState } from 'react'

/** The row with the keyboard cursor; -1 for none. */
export function useListCursor() {
  const [cursor, setCursor] = useState(-1)
  const leave = useCallback(() => setCursor(-1), [])
  /** Moves to the first row, also when the cursor was already there. */
  const enter = useCallback(() => {
    setCursor(-1)
    requestAnimationFrame(() => setCursor(0))
  }, [])
  return { cursor, setCursor, enter, leave }
}
