/** Starts the work; whoever asks while it is under way has it done once more afterwards. What it throws is its own affair. */
export function coalesce(work: () => Promise<void>): () => void {
  let isRunning = false
  let isAskedFor = false
  return function start() {
    isAskedFor = true
    if (isRunning) return
    isRunning = true
    void (async () => {
      while (isAskedFor) {
        isAskedFor = false
        await work().catch(() => {})
      }
      isRunning = false
    })()
  }
}
