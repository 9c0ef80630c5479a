/**
 * Bounds how long one tick of the event loop evaluates. What exceeds it waits for the next ticks, so that new connections and health
 * probes are served in between however many requests wait. Node accepts at most one connection per tick: the shorter the ticks, the
 * more clients get a response.
 */
export interface TickBudget {
  /** Connections take turns. Returns false, and does nothing, when too much work of this connection waits already. */
  run(connection: object, work: () => void): boolean
}

const tickMillisecondsMax = 2
/** A client that pipelines more gets errors, whose responses Node buffers until it stops reading from that client. */
const waitingPerConnectionMax = 100

export function createTickBudget(millisecondsMax = tickMillisecondsMax, now = () => performance.now()): TickBudget {
  /** In the order of their turns. */
  const waiting = new Map<object, (() => void)[]>()
  let until = 0
  let hasBegun = false

  function begin(): void {
    hasBegun = true
    until = now() + millisecondsMax
    setImmediate(endTick)
  }

  /** Runs after all sockets of this tick were read. */
  function endTick(): void {
    hasBegun = false
    if (waiting.size === 0) return
    begin()
    for (const [connection, [next, ...others]] of waiting) {
      waiting.delete(connection)
      if (others.length > 0) waiting.set(connection, others)
      next!()
      if (now() >= until) return
    }
  }

  return {
    run(connection, work) {
      if (!hasBegun) begin()
      const own = waiting.get(connection)
      if (own === undefined && waiting.size === 0 && now() < until) work()
      else if (own === undefined) waiting.set(connection, [work])
      else if (own.length < waitingPerConnectionMax) own.push(work)
      else return false
      return true
    },
  }
}
