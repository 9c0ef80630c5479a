/** Timers of background work never keep a process alive; one that a caller awaits does, or the process would end without a word. */
export function startTimer(
  action: () => void,
  milliseconds: number,
  { isAwaited = false }: { readonly isAwaited?: boolean } = {},
): () => void {
  const timer = setTimeout(action, milliseconds)
  if (!isAwaited) (timer as { unref?: () => void }).unref?.()
  return () => clearTimeout(timer)
}

/** Resolves after the time, or at once when the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const finish = () => {
      cancel()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = startTimer(finish, milliseconds)
    signal.addEventListener('abort', finish)
  })
}

const backoffFirst = 250
const backoffMax = 30_000

/** Doubles with each attempt; half of it is random, so that clients do not return at the same moment. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(backoffMax, backoffFirst * 2 ** Math.min(attempt, 20))
  return full / 2 + (random() * full) / 2
}
