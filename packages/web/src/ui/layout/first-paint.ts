import { useEffect, useState } from 'react'

/** After the first render of a page: long enough for its first paint. What is not visible yet is rendered then. */
export const firstPaintMilliseconds = 500

/** False until the component has been painted, for requests whose results are not waited for: starting them takes time as well. */
export function useIsPainted(): boolean {
  const [isPainted, setIsPainted] = useState(false)
  useEffect(() => {
    let timer: number | undefined
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(setIsPainted, 0, true)
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [])
  return isPainted
}
