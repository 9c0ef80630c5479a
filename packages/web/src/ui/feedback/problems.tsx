import { Alert, Button, Center, Loader, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { NotFound } from './not-found.tsx'
import { problemText } from './problem-text.ts'

export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useMessages()
  const isOver = useReconnected(error, onRetry)
  if (!error || isOver) return null
  return (
    <Alert color="red" title={t.common.somethingWrong} role="alert">
      <Stack gap="xs" align="flex-start">
        {problemText(t, error)}
        {onRetry && (
          <Button variant="default" size="xs" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** An unreachable server is no longer a problem once the connection is back: what was loaded is loaded again. */
export function useReconnected(error: unknown, onRetry?: () => void): boolean {
  const [over, setOver] = useState<unknown>(null)
  const isUnreachable = isProblem(error) && error.status === 0
  useEffect(() => {
    if (!isUnreachable) return
    const end = () => (onRetry ? onRetry() : setOver(error))
    window.addEventListener('online', end)
    return () => window.removeEventListener('online', end)
  }, [isUnreachable, error, onRetry])
  return over !== null && over === error
}

interface QueryState<T> {
  readonly data: T | undefined
  readonly error: unknown
  refetch(): unknown
}

type QueryData<T extends Readonly<Record<string, QueryState<unknown>>>> = {
  [Name in keyof T]: NonNullable<T[Name]['data']>
}

/** Combines queries for content that needs all of them: rendering it earlier would shift the layout. */
export function combineQueries<T extends Readonly<Record<string, QueryState<unknown>>>>(
  states: T,
): QueryState<QueryData<T>> {
  const all = Object.values(states)
  const data = Object.fromEntries(Object.entries(states).map(([name, state]) => [name, state.data])) as QueryData<T>
  return {
    data: all.every(state => state.data !== undefined) ? data : undefined,
    error: all.find(state => state.data === undefined && state.error)?.error,
    refetch: () => Promise.all(all.filter(state => state.error).map(state => state.refetch())),
  }
}

interface LoadedProps<T> {
  query: QueryState<T>
  children: (data: T) => ReactNode
}

export function Loading() {
  const t = useMessages()
  return (
    <Center mih={160}>
      <Loader aria-label={t.common.loading} role="status" size="sm" />
    </Center>
  )
}

/** Renders the query's data, a loader, or its error. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (isProblem(query.error) && query.error.status === 404) return <NotFound />
  if (query.error) return <ProblemAlert error={query.error} onRetry={() => query.refetch()} />
  return <Loading />
}
