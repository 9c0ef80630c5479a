import type { AnswerOf, Route } from '@halyard/contract'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { callWithProgress, type ProgressInput } from '../../api/progress.ts'
import { useServices } from '../../services/services.ts'

export type ProgressCall = Omit<ProgressInput, 'signal'>

/** Runs a request that streams its progress and can be canceled. It continues when the page is left. */
export function useProgress<R extends Route>(route: R, onDone: (answer: AnswerOf<R>) => unknown) {
  const { session } = useServices()
  const [steps, setSteps] = useState<readonly string[]>([])
  const stopping = useRef<AbortController>(undefined)
  const work = useMutation({
    mutationFn: (input: ProgressCall) => {
      const stop = new AbortController()
      stopping.current = stop
      setSteps([])
      return callWithProgress(session, route, { ...input, signal: stop.signal }, step =>
        setSteps(old => [...old, step]),
      )
    },
    onSuccess: onDone,
  })
  const isStopped = (work.error as Error | null)?.name === 'AbortError'
  return {
    /** The steps started so far; the last one is running, or has failed. */
    steps,
    isRunning: work.isPending,
    isStopped,
    error: isStopped ? null : work.error,
    input: work.variables,
    start: work.mutate,
    stop: () => stopping.current?.abort(),
    reset: work.reset,
  }
}

export type Progress = ReturnType<typeof useProgress>
