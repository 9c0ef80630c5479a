import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { noWorkerBus, type WorkerBus } from '../worker-bus.ts'

/** What workers and their supervisor say to each other. */
type Message =
  | 'halyard:changed'
  /** A worker listens; or waits for its database and would answer in the others' place. */
  | 'halyard:serving'
  | 'halyard:waiting'
  /** What a waiting worker is told: nobody listens, or somebody does. */
  | 'halyard:nobody'
  | 'halyard:somebody'
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
/** A worker that lived this long was sound: the next one starts at once. */
const soundMilliseconds = 10_000
const stopMillisecondsMax = 15_000

/** True in the process that starts the others and serves nothing itself. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/**
 * Keeps so many workers running on one port and one database until SIGTERM or SIGINT. The first one starts alone: it brings the schema up to
 * date and welcomes the first owner; if it cannot start, neither can the others, and the exit code is its own.
 */
export async function supervise(count: number, log: Log): Promise<void> {
  // Workers accept from one listening socket. Handing connections over would take a round trip for each, which starves new clients.
  cluster.schedulingPolicy = cluster.SCHED_NONE
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
    if (message === 'halyard:waiting' || message === 'halyard:serving') tellWaiting()
  })

  /** The port is never left to itself: while nobody can serve, those who wait answer. */
  function tellWaiting(): void {
    for (const worker of waitingWorkers) {
      if (!worker.isDead()) worker.send(servingWorkers.size === 0 ? 'halyard:nobody' : 'halyard:somebody')
    }
  }

  function fork(): Worker {
    const worker = cluster.fork()
    log.info({ worker: worker.process.pid }, 'a worker starts')
    // A message to a worker that was killed a moment ago is lost. Its exit is handled below.
    worker.on('error', error => log.warn({ worker: worker.process.pid, err: error }, 'a worker could not be told'))
    worker.once('exit', () => {
      waitingWorkers.delete(worker)
      if (servingWorkers.delete(worker)) tellWaiting()
    })
    return worker
  }

  function keep(worker: Worker): void {
    const start = performance.now()
    worker.once('exit', async (code, signal) => {
      if (isStopping) return
      log.warn({ worker: worker.process.pid, code, signal }, 'a worker ended; starting another')
      delay =
        performance.now() - start > soundMilliseconds
          ? restartMillisecondsMin
          : Math.min(delay * 2, restartMillisecondsMax)
      await wait(delay)
      if (!isStopping) keep(fork())
    })
  }

  /** One that was killed says nothing about the next; one that ended by itself has said why. */
  async function startFirst(): Promise<Worker> {
    for (;;) {
      const worker = fork()
      const end = await Promise.race([serving(worker), ended(worker)])
      if (end === 'serving') return worker
      if (isStopping || end.signal === null) process.exit(isStopping ? 0 : (end.code ?? 1))
      log.warn({ worker: worker.process.pid, signal: end.signal }, 'the first worker was killed; starting another')
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
  log.info({ workers: count }, 'workers started')
}

/** A worker that ended stays in the list until its channel is seen to be closed too. */
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
 * Says, from now on and whenever it changes, whether nobody serves the port: then somebody who waits for a database has to answer. A process by
 * itself is always the one.
 */
export function watchPort(listener: (isNobodyServing: boolean) => void): void {
  if (!cluster.isWorker) {
    listener(true)
    return
  }
  process.on('message', message => {
    if (message === 'halyard:nobody' || message === 'halyard:somebody') listener(message === 'halyard:nobody')
  })
  say('halyard:waiting')
}

/** Seen from a worker: its siblings, through the supervisor. */
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
  // A supervisor that is gone hears nothing; this process ends by itself then.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
