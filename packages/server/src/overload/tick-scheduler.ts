/**
 * Bounds how long one tick of the event loop evaluates, so that new connections and health probes are served between two ticks
 * however many requests wait. libuv accepts at most one connection per tick: the shorter the ticks, the more clients get in.
 */
export interface TickScheduler {
  /** Whether work that arrives now may run at once: nothing waits, and this tick has time left. */
  hasTime(now: number): boolean
  /** Runs the task later; tasks that have more to do are scheduled again behind the others. */
  add(task: Task): void
  /** A connection was accepted in this tick. More may be waiting: accepting takes precedence, for a bounded time. */
  accepted(): void
  readonly waiting: number
}

export interface Task {
  /** Does one slice of its work. Returns whether there is more. */
  run(): boolean
}

const tickMillisecondsMax = 3
/** While connections keep arriving, evaluations run for this long after each stretch of accepting. */
const acceptingTickMillisecondsMax = 1
const acceptingMillisecondsMax = 5

export function createTickScheduler(now: () => number = () => performance.now()): TickScheduler {
  let round: Task[] = []
  let next: Task[] = []
  let position = 0
  /** When the time of this tick is used up; 0 before its first work. */
  let deadline = 0
  let hasAccepted = false
  /** Since when every tick has accepted a connection; 0 when the last one has not. */
  let acceptingSince = 0
  let isArmed = false

  const waiting = () => round.length - position + next.length

  function arm(): void {
    if (isArmed) return
    isArmed = true
    setImmediate(endTick)
  }

  /** Runs after all sockets of this tick were read. */
  function endTick(): void {
    isArmed = false
    deadline = 0
    const time = now()
    if (!hasAccepted) acceptingSince = 0
    else if (acceptingSince === 0) acceptingSince = time
    hasAccepted = false
    if (waiting() === 0) return
    const isAccepting = acceptingSince > 0
    if (!isAccepting || time - acceptingSince > acceptingMillisecondsMax) {
      const until = time + (isAccepting ? acceptingTickMillisecondsMax : tickMillisecondsMax)
      do runNext()
      while (waiting() > 0 && now() < until)
      acceptingSince = 0
    }
    if (waiting() > 0) arm()
  }

  function runNext(): void {
    if (position === round.length) {
      ;[round, next, position] = [next, round, 0]
      next.length = 0
    }
    const task = round[position++]!
    if (task.run()) next.push(task)
  }

  return {
    hasTime(time) {
      if (hasAccepted || waiting() > 0) return false
      if (deadline > 0) return time < deadline
      deadline = time + tickMillisecondsMax
      arm()
      return true
    },
    add(task) {
      next.push(task)
      arm()
    },
    accepted() {
      hasAccepted = true
      arm()
    },
    get waiting() {
      return waiting()
    },
  }
}
