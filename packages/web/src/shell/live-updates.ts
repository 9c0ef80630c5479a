import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useServices } from '../services/services.ts'
import { createFlagRefresher } from './refresh-flags.ts'
import { createQueryRefresher } from './refresh-queries.ts'

/** Applies changes from the stream to the cached queries, so that they appear without a reload. */
export function useLiveUpdates(): void {
  const queries = useQueryClient()
  const { call, live } = useServices()
  useEffect(() => {
    const queryRefresher = createQueryRefresher(queries)
    const refreshers = [queryRefresher, createFlagRefresher(call, queries)]
    const stopListening = live.subscribe(message => {
      // An expired key is detected by the next response.
      if (message.kind === 'refused') queries.invalidateQueries({ queryKey: ['me'] })
      else if (message.kind === 'resume') queryRefresher.resumed()
      else for (const { soon } of refreshers) soon(message.kind === 'change' ? message.change : undefined)
    })
    // A hidden tab sends no requests and catches up when it becomes visible.
    const catchUp = () => {
      for (const { now } of refreshers) now()
    }
    document.addEventListener('visibilitychange', catchUp)
    return () => {
      document.removeEventListener('visibilitychange', catchUp)
      stopListening()
      for (const { stop } of refreshers) stop()
    }
  }, [live, queries, call])
}
