/**
 * How long code can have been running at most: no longer than time has passed, and no longer than this process has had a processor. A machine
 * that is busy with other work is not charged to the code.
 */
export interface RunTimer {
  hasRunLongerThan(ms: number): boolean
  ranMs(): number
}

export function startRunTimer(): RunTimer {
  const startedAt = performance.now()
  const processorStart = processorMs()
  const passedMs = () => performance.now() - startedAt
  const processedMs = () => processorMs() - processorStart
  return {
    // Called often while guest code runs, so the cheap check comes first.
    hasRunLongerThan: ms => passedMs() > ms && processedMs() > ms,
    ranMs: () => Math.min(passedMs(), processedMs()),
  }
}

/** Of all threads together: one thread's own cannot be had on all versions of Node. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
