/** Starts the work; calls while it is running cause one further run afterwards. Errors of the work are ignored. */
export function coalesce(work: () => Promise<void>): () => void {
  let isRunning = false
  let isRequested = false
  return function start() {
    isRequested = true
    if (isRunning) return
    isRunning = true
    void (async () => {
      while (isRequested) {
        isRequested = false
        await work().catch(() => {})
      }
      isRunning = false
    })()
  }
}
