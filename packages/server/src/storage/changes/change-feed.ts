import { setImmediate as endOfTick } from 'node:timers/promises'
import { isDatabaseAway } from '../driver-error.ts'
import type { ChangeLog } from './change-log.sql.ts'
import type { Change, ChangeFeed, ChangeListener } from './changes.ts'

const batchMax = 500
/** How long a request waits for the probe of a database that was unavailable a moment ago. */
const probeMillisecondsMax = 250

interface Outage {
  readonly error: unknown
  /** The read that finds out whether the database responds again. */
  readonly probing: Promise<void> | undefined
}

/**
 * Reads the change log from this node's own position and delivers it to the listeners. Whatever wakes it (a commit in this process, a
 * notification, a timer), it reads the same log, so a lost wake-up is only a delay. Sequences have no gaps: a gap means that this node
 * slept while the log was trimmed, and that its listeners must reset. So does a log in which the change that was read last is missing or
 * another one: a replica took over that had not received everything, and assigns the same sequences to other changes.
 */
export function createChangeFeed(
  log: Pick<ChangeLog, 'listAfter' | 'head'>,
  start: FeedStart,
  onListenerError: (error: unknown) => void,
): ChangeFeed {
  const listeners = new Map<ChangeListener, () => void | Promise<void>>()
  let { position, last } = start
  let reading: Promise<void> = Promise.resolve()
  /** A read that has not begun, so that it will see everything that is committed by now. */
  let next: Promise<void> | undefined
  /** Set while the database is known to be unavailable; cleared by the first read that succeeds. */
  let outage: Outage | undefined

  async function reporting(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      onListenerError(error)
    }
  }

  async function publish(changes: readonly Change[], isMissing: boolean): Promise<void> {
    for (const [listener, reset] of listeners) {
      if (isMissing) await reporting(reset)
      if (changes.length > 0) await reporting(() => listener(changes))
    }
  }

  async function deliver(): Promise<void> {
    for (;;) {
      const listed = await log.listAfter(last ? position - 1 : position, batchMax)
      const isKnown = last !== undefined && isSame(listed[0], last)
      const changes = isKnown ? listed.slice(1) : listed
      const isMissing = last ? !isKnown : listed.length > 0 && listed[0]?.sequence !== position + 1
      // Before they are notified: what is committed while they reset is delivered afterwards.
      const next = isMissing && listed.length === 0 ? await endOf(log) : { position, last, ...endingWith(changes) }
      // Before, too: a listener that subscribes meanwhile may receive a change twice, but misses none after `newest`.
      ;({ position, last } = next)
      if (isMissing || changes.length > 0) await publish(changes, isMissing)
      if (listed.length < batchMax) return
    }
  }

  /** A read that fails also fails the callers that wait for the next one: on a silent database each would wait for its timeout. */
  async function readNext(): Promise<void> {
    await endOfTick()
    try {
      await reading
    } finally {
      next = undefined
    }
    if (outage) throw outage.error
    reading = deliver()
    reading.catch(error => {
      reading = Promise.resolve()
      if (isDatabaseAway(error)) probe(error)
    })
    return reading
  }

  /** Reads in the background, so that no caller waits for long for a database that is known to be unavailable. */
  function probe(error: unknown): Promise<void> {
    const probing = deliver().then(
      () => {
        outage = undefined
      },
      again => {
        outage = isDatabaseAway(again) ? { error: again, probing: undefined } : undefined
        throw again
      },
    )
    probing.catch(() => {})
    outage = { error, probing }
    return probing
  }

  /** Resolves when the database responds to a probe within a moment, so that the first request after an outage succeeds. */
  function recover({ error, probing }: Outage): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((_, reject) => {
      timer = setTimeout(reject, probeMillisecondsMax, error)
    })
    return Promise.race([probing ?? probe(error), late])
      .finally(() => clearTimeout(timer))
      .then(() => (next ??= readNext()))
  }

  return {
    subscribe(listener, reset) {
      listeners.set(listener, reset)
      return () => listeners.delete(listener)
    },
    newest: () => last,
    // Called at every request and after every commit. All calls before a read has begun share it, so that there is at most one read in
    // an event-loop tick.
    catchUp() {
      if (outage) return recover(outage)
      next ??= readNext()
      return next
    },
  }
}

/** Where a node begins to read. */
export interface FeedStart {
  readonly position: number
  /** The change at this position, if the log has it. */
  readonly last: Change | undefined
}

/** The end of the log as it is now. */
export async function endOf(log: Pick<ChangeLog, 'listAfter' | 'head'>): Promise<FeedStart> {
  const position = await log.head()
  const [newest] = await log.listAfter(position - 1, 1)
  return { position, last: newest?.sequence === position ? newest : undefined }
}

function endingWith(changes: readonly Change[]): FeedStart | undefined {
  const last = changes.at(-1)
  return last && { position: last.sequence, last }
}

const isSame = (candidate: Change | undefined, last: Change): boolean =>
  candidate?.sequence === last.sequence &&
  candidate.at === last.at &&
  candidate.topic === last.topic &&
  candidate.entityId === last.entityId
