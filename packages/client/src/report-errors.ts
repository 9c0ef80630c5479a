/** How long the same message is not logged again. */
const repeatMilliseconds = 60 * 60_000
const messagesMax = 100

/** Passes errors of background work to the application, or logs them, so that a client never fails silently. Never throws. */
export function createErrorReport(onError: ((error: Error) => void) | undefined): (error: unknown) => void {
  const report = onError ?? logOnce()
  return value => {
    try {
      report(value instanceof Error ? value : new Error(String(value)))
    } catch {
      // An error in the application's own handler must not stop the client.
    }
  }
}

/** A server that is down for hours makes the same request fail again and again: each message is logged once an hour. */
function logOnce(): (error: Error) => void {
  const loggedAt = new Map<string, number>()
  return ({ message }) => {
    const now = Date.now()
    if (now - (loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < repeatMilliseconds) return
    if (loggedAt.size >= messagesMax) loggedAt.clear()
    loggedAt.set(message, now)
    console.error(`[halyard] ${message}`)
  }
}
