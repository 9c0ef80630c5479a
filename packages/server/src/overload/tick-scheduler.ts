/**
 * Runs evaluations at the end of a tick of the event loop, when all sockets have been read. One after another they find their code and
 * data in the caches of the processor, which reading sockets in turn would evict (ADR 22).
 *
 * It also bounds how long one tick evaluates, so that new connections and health probes are served between two ticks however many
 * requests wait. libuv accepts at most one connection per tick: the shorter the ticks, the more clients get in.
 */
export interface TickScheduler {
  /** Runs the task at the end of this tick or later; tasks that have more to do are scheduled again behind the others. */
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

/** `afterTasks` is called when the tasks of a tick have run. */
export function createTickScheduler(
  afterTasks: () => void = () => {},
  now: () => number = () => performance.now(),
): TickScheduler {
  let round: Task[] = []
  let next: Task[] = []
  let position = 0
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
      afterTasks()
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
