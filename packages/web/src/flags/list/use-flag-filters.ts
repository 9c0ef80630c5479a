import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { type FlagSearch, isFiltered } from './flag-search.ts'
import { useSearchText } from './use-search-text.ts'

/** The filters in the URL and the search text while it is typed. `onChange` is called before either changes. */
export function useFlagFilters(projectId: string, onChange: () => void) {
  const search = useSearch({ from: '/shell/project/$projectId/flags' })
  const navigate = useNavigate()
  const writeUrl = useCallback(
    (next: FlagSearch) =>
      navigate({ to: '/project/$projectId/flags', params: { projectId }, search: next, replace: true }),
    [navigate, projectId],
  )
  const [text, writeText] = useSearchText(search, writeUrl)
  const setText = (next: string) => {
    onChange()
    writeText(next)
  }
  const setSearch = (next: FlagSearch) => {
    // A saved view has a text of its own.
    if (next.q !== search.q) writeText(next.q ?? '')
    onChange()
    return writeUrl(next)
  }
  const clear = () => {
    setText('')
    return setSearch({})
  }
  return { search, setSearch, text, setText, clear, isFiltered: isFiltered(search) || text !== '' }
}
