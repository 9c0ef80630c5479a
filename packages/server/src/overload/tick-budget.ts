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
/**
 * With more connections waiting than this, ticks are half as long: new ones are accepted twice as fast, which then matters more than the
 * twentieth of the throughput that it costs with few connections.
 */
const crowdMin = 200
/** A client that pipelines more gets errors, whose responses Node buffers until it stops reading from that client. */
const waitingPerConnectionMax = 100

type Queue = (() => void)[]

export function createTickBudget(millisecondsMax = tickMillisecondsMax, now = () => performance.now()): TickBudget {
  /**
   * By connection, created once. A `Map` of the waiting ones would be resized in every tick, and an old table of it keeps the next one and
   * the requests in it alive: each scavenge would copy hundreds of finished requests into the old generation.
   */
  const queues = new WeakMap<object, Queue>()
  /** The queues that have work, in the order of their turns. */
  const waiting: Queue[] = []
  let until = 0
  let hasBegun = false

  function begin(): void {
    hasBegun = true
    until = now() + (waiting.length > crowdMin ? millisecondsMax / 2 : millisecondsMax)
    setImmediate(endTick)
  }

  /** Runs after all sockets of this tick were read. */
  function endTick(): void {
    hasBegun = false
    if (waiting.length === 0) return
    begin()
    for (let own = waiting.shift(); own !== undefined; own = waiting.shift()) {
      const next = own.shift()!
      if (own.length > 0) waiting.push(own)
      next()
      if (now() >= until) return
    }
  }

  function queueOf(connection: object): Queue {
    const own = queues.get(connection) ?? []
    queues.set(connection, own)
    return own
  }

  return {
    run(connection, work) {
      if (!hasBegun) begin()
      if (waiting.length === 0 && now() < until) {
        work()
        return true
      }
      const own = queueOf(connection)
      if (own.length >= waitingPerConnectionMax) return false
      if (own.push(work) === 1) waiting.push(own)
      return true
    },
  }
}
