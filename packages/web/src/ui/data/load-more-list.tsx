import { Button, Stack } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Loaded } from '../feedback/problems.tsx'

interface Entry {
  readonly id: number | string
}

interface Props<T extends Entry> {
  query: UseInfiniteQueryResult<InfiniteData<{ readonly results: readonly T[] }>>
  /** Shown when the list is empty. */
  empty?: ReactNode
  children: (entry: T) => ReactNode
}

/** A paginated list, newest first, with a "load more" button. */
export function LoadMoreList<T extends Entry>({ query, empty, children }: Props<T>) {
  const t = useMessages()
  return (
    <Loaded query={query}>
      {({ pages }) => (
        <Stack>
          {pages[0]?.results.length === 0 && empty}
          {pages
            .flatMap(page => page.results)
            .map(entry => (
              <Fragment key={entry.id}>{children(entry)}</Fragment>
            ))}
          {query.hasNextPage && (
            <Button variant="default" onClick={() => query.fetchNextPage()} loading={query.isFetchingNextPage}>
              {t.history.more}
            </Button>
          )}
        </Stack>
      )}
    </Loaded>
  )
}
