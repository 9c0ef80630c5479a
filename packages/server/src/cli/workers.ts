import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { noWorkerBus, type WorkerBus } from '../worker-bus.ts'

/** Messages between workers and their supervisor. */
type Message =
  | 'halyard:changed'
  /** A worker listens, or waits for its database and can serve the port meanwhile. */
  | 'halyard:serving'
  | 'halyard:waiting'
  /** To waiting workers: whether another worker serves the port. */
  | 'halyard:port-free'
  | 'halyard:port-served'
  | Word

/** From a part of one worker to the same part of the others. */
interface Word {
  readonly part: string
  readonly word: unknown
}

interface Log {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

const restartMillisecondsMin = 100
const restartMillisecondsMax = 5000
/** A worker that lived this long was healthy: the next one starts without delay. */
const soundMilliseconds = 10_000
const stopMillisecondsMax = 15_000

export const isWorker = (): boolean => cluster.isWorker

/** True in the only process, the supervisor, and the worker that a supervisor starts first or that has created the database. */
export const isFirstProcess = (hasCreatedDatabase = false): boolean =>
  !cluster.isWorker || hasCreatedDatabase || cluster.worker?.id === 1

/** True in the process that starts the others and serves nothing itself. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/**
 * Keeps this many workers running on one port and one database until SIGTERM or SIGINT. The first one starts alone: it migrates the schema
 * and shows the first credentials; if it cannot start, the supervisor ends with its exit code.
 */
export async function supervise(count: number, log: Log): Promise<void> {
  let isStopping = false
  let delay = restartMillisecondsMin
  const servingWorkers = new Set<Worker>()
  const waitingWorkers = new Set<Worker>()

  cluster.on('message', (from, message: Message) => {
    if (message === 'halyard:changed' || typeof message === 'object') {
      for (const worker of living()) if (worker !== from) worker.send(message)
    }
    if (message === 'halyard:waiting') waitingWorkers.add(from)
    if (message === 'halyard:serving') {
      waitingWorkers.delete(from)
      servingWorkers.add(from)
    }
    if (message === 'halyard:waiting' || message === 'halyard:serving') notifyWaiting()
  })

  /** While no worker serves the port, the waiting ones respond. */
  function notifyWaiting(): void {
    for (const worker of waitingWorkers) {
      if (!worker.isDead()) worker.send(servingWorkers.size === 0 ? 'halyard:port-free' : 'halyard:port-served')
    }
  }

  function fork(): Worker {
    const worker = cluster.fork()
    log.info({ event: 'worker_started', worker: worker.process.pid }, 'starting a worker')
    // The worker was killed a moment ago; its exit is handled below, and the message or connection is lost.
    worker.on('error', error =>
      log.warn({ event: 'worker_ipc_failed', worker: worker.process.pid, err: error }, 'cannot send to a worker'),
    )
    worker.once('exit', watchHandOver(worker))
    worker.once('exit', () => {
      waitingWorkers.delete(worker)
      if (servingWorkers.delete(worker)) notifyWaiting()
    })
    return worker
  }

  function keep(worker: Worker): void {
    const start = performance.now()
    worker.once('exit', async (code, signal) => {
      if (isStopping) return
      log.warn(
        { event: 'worker_exited', worker: worker.process.pid, code, signal },
        'a worker exited; starting another',
      )
      delay =
        performance.now() - start > soundMilliseconds
          ? restartMillisecondsMin
          : Math.min(delay * 2, restartMillisecondsMax)
      await wait(delay)
      if (!isStopping) keep(fork())
    })
  }

  /** A killed worker is replaced; one that exited on its own has reported why. */
  async function startFirst(): Promise<Worker> {
    for (;;) {
      const worker = fork()
      const end = await Promise.race([serving(worker), ended(worker)])
      if (end === 'serving') return worker
      if (isStopping || end.signal === null) process.exit(isStopping ? 0 : (end.code ?? 1))
      log.warn(
        { event: 'worker_exited', worker: worker.process.pid, signal: end.signal },
        'the first worker was killed; starting another',
      )
      await wait(restartMillisecondsMin)
    }
  }

  const stop = async (signal: NodeJS.Signals) => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(1), stopMillisecondsMax).unref()
    const ended = living().map(worker => new Promise(resolve => worker.once('exit', resolve)))
    for (const worker of living()) worker.process.kill(signal)
    await Promise.all(ended)
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)

  keep(await startFirst())
  for (let n = 1; n < count; n++) keep(fork())
  log.info({ event: 'workers_started', workers: count }, 'workers started')
}

/** Node lists a dead worker until its channel is closed as well. */
const living = (): Worker[] =>
  Object.values(cluster.workers ?? {}).filter(worker => worker !== undefined && !worker.isDead()) as Worker[]

const serving = (worker: Worker): Promise<'serving'> =>
  new Promise(resolve => {
    worker.on('message', (message: Message) => {
      if (message === 'halyard:serving') resolve('serving')
    })
  })

const ended = (worker: Worker): Promise<{ code: number | null; signal: string | null }> =>
  new Promise(resolve => worker.once('exit', (code, signal) => resolve({ code, signal })))

/**
 * `node:cluster` hands connections to workers one at a time and keeps one open whose worker is killed before it accepts: its client would wait
 * forever. Returns a function that closes it; an accepted connection is closed here already, and closing it again does nothing.
 */
function watchHandOver({ process: child }: Worker): () => void {
  const send = child.send.bind(child) as (message: unknown, handle?: unknown, ...rest: unknown[]) => boolean
  let handedOver: { close(): void } | undefined
  child.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    if (handle) handedOver = handle as { close(): void }
    return send(message, handle, ...rest)
  }
  return () => handedOver?.close()
}

/**
 * Reports, now and on every change, whether no worker serves the port, so that one that waits for its database has to respond. A single process
 * always has to.
 */
export function watchPort(listener: (isPortFree: boolean) => void): void {
  if (!cluster.isWorker) {
    listener(true)
    return
  }
  process.on('message', message => {
    if (message === 'halyard:port-free' || message === 'halyard:port-served') listener(message === 'halyard:port-free')
  })
  say('halyard:waiting')
}

/** The bus between workers, through the supervisor. */
export function siblings(): WorkerBus {
  if (!cluster.isWorker) return noWorkerBus
  return {
    ownName: String(cluster.worker?.id),
    broadcastChanges: () => say('halyard:changed'),
    onChanges(listener) {
      process.on('message', message => {
        if (message === 'halyard:changed') listener()
      })
    },
    tell: (part, word) => say({ part, word }),
    onTold(part, listener) {
      process.on('message', (message: Message) => {
        if (typeof message === 'object' && message.part === part) listener(message.word)
      })
    },
  }
}

export const sayServing = (): void => say('halyard:serving')

function say(message: Message): void {
  // Without its supervisor this process exits on its own.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
