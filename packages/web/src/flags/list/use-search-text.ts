import { useCallback, useEffect, useRef, useState } from 'react'
import { type FlagSearch, withoutText } from './flag-search.ts'

const restMilliseconds = 300

/**
 * The search text while typing. The URL is updated after a pause, because navigating on every keystroke would be
 * slow.
 */
export function useSearchText(search: FlagSearch, setSearch: (search: FlagSearch) => void) {
  const [typed, setTyped] = useState(search.q ?? '')
  const written = useRef(search.q ?? '')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ search, setSearch })
  useEffect(() => {
    latest.current = { search, setSearch }
  })
  // The URL changed from outside: back, a link, cleared filters.
  useEffect(() => {
    const text = search.q ?? ''
    if (text === written.current) return
    written.current = text
    setTyped(text)
  }, [search.q])
  useEffect(() => () => clearTimeout(timer.current), [])

  const type = useCallback((text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      written.current = text
      const rest = withoutText(latest.current.search)
      latest.current.setSearch(text === '' ? rest : { ...rest, q: text })
    }, restMilliseconds)
  }, [])
  return [typed, type] as const
}
