/** Exponential back-off with jitter: the n-th retry waits between half of the delay and all of it, so that many callers spread out. */
export function retryDelay(attempt: number, { first, max }: { readonly first: number; readonly max: number }): number {
  const delay = Math.min(first * 2 ** Math.min(attempt - 1, 30), max)
  return delay / 2 + (Math.random() * delay) / 2
}
