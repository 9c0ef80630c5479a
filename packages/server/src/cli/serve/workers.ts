import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { applyMillisecondsMax, noWorkerBus, type WorkerBus } from '../../worker-bus.ts'
import { createMetricsClient, createMetricsGatherer, type MetricsMessage } from './worker-metrics.ts'

/** Messages between workers and their supervisor. */
type Message =
  /** A worker listens, or waits for its database and can serve the port meanwhile. */
  | 'halyard:serving'
  | 'halyard:waiting'
  /** To waiting workers: whether another worker serves the port. */
  | 'halyard:port-free'
  | 'halyard:port-served'
  | ChangeMessage
  | TopicMessage
  | MetricsMessage

/**
 * A worker has committed (`committed`); the supervisor forwards that to the siblings (`apply`) and reports how many have to
 * acknowledge it (`forwarded`); each acknowledgment (`applied`) goes back to the worker that committed.
 */
type ChangeMessage =
  | { readonly change: 'committed'; readonly id: number }
  | { readonly change: 'apply' | 'applied'; readonly id: number; readonly worker: number }
  | { readonly change: 'forwarded'; readonly id: number; readonly siblings: number }

/** From one worker to the others. */
interface TopicMessage {
  readonly topic: string
  readonly message: unknown
}

const isChange = (message: Message): message is ChangeMessage => typeof message === 'object' && 'change' in message
const isMetrics = (message: Message): message is MetricsMessage => typeof message === 'object' && 'metrics' in message
const isTopic = (message: Message): message is TopicMessage => typeof message === 'object' && 'topic' in message

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
export async function supervise(
  count: number,
  log: Log,
  beforeExit: () => Promise<void> = async () => {},
): Promise<void> {
  // Workers accept from one listening socket. Handing connections over would take a round trip for each, which starves new clients.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  let isStopping = false
  let delay = restartMillisecondsMin
  const servingWorkers = new Set<Worker>()
  const waitingWorkers = new Set<Worker>()
  const metrics = createMetricsGatherer(() => living().filter(worker => servingWorkers.has(worker)))

  cluster.on('message', (from, message: Message) => {
    if (isTopic(message)) {
      for (const worker of living()) if (worker !== from) worker.send(message)
    }
    if (isChange(message)) forwardChange(from, message)
    if (isMetrics(message)) metrics.receive(from, message)
    if (message === 'halyard:waiting') waitingWorkers.add(from)
    if (message === 'halyard:serving') {
      waitingWorkers.delete(from)
      servingWorkers.add(from)
    }
    if (message === 'halyard:waiting' || message === 'halyard:serving') notifyWaiting()
  })

  /** Workers that do not serve yet read the database when they start: only the others acknowledge. */
  function forwardChange(from: Worker, message: ChangeMessage): void {
    if (message.change === 'committed') {
      const siblings = living().filter(worker => worker !== from && servingWorkers.has(worker))
      for (const worker of siblings) worker.send({ change: 'apply', id: message.id, worker: from.id })
      from.send({ change: 'forwarded', id: message.id, siblings: siblings.length })
    } else if (message.change === 'applied') {
      const origin = cluster.workers?.[message.worker]
      if (origin && !origin.isDead()) origin.send(message)
    }
  }

  /** While no worker serves the port, the waiting ones respond. */
  function notifyWaiting(): void {
    for (const worker of waitingWorkers) {
      if (!worker.isDead()) worker.send(servingWorkers.size === 0 ? 'halyard:port-free' : 'halyard:port-served')
    }
  }

  function fork(): Worker {
    const worker = cluster.fork()
    log.info({ event: 'worker_started', worker: worker.process.pid }, 'starting a worker')
    // A message to a worker that was killed a moment ago is lost. Its exit is handled below.
    worker.on('error', error =>
      log.warn({ event: 'worker_ipc_failed', worker: worker.process.pid, err: error }, 'cannot send to a worker'),
    )
    worker.once('exit', () => {
      waitingWorkers.delete(worker)
      void metrics.exited(worker)
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
    await beforeExit()
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
  const onMessage = (listener: (message: Message) => void) => process.on('message', listener)
  return {
    ownName: String(cluster.worker?.id),
    publishChanges: createChangePublisher(onMessage),
    onChanges(apply) {
      onMessage(message => {
        if (!isChange(message) || message.change !== 'apply') return
        // Without an acknowledgment the sibling waits for as long as it may, and reports that.
        apply().then(
          () => say({ ...message, change: 'applied' }),
          () => {},
        )
      })
    },
    ...createMetricsClient(say, listener =>
      onMessage(message => {
        if (isMetrics(message)) listener(message)
      }),
    ),
    publish: (topic, message) => say({ topic, message }),
    subscribe(topic, listener) {
      onMessage(message => {
        if (isTopic(message) && message.topic === topic) listener(message.message)
      })
    },
  }
}

/** Commits that happen while siblings acknowledge an earlier one share the next round. */
function createChangePublisher(onMessage: (listener: (message: Message) => void) => void): () => Promise<boolean> {
  const rounds = new Map<number, { missing: number; settle: (isApplied: boolean) => void }>()
  let lastId = 0
  let running: Promise<boolean> | undefined
  let next: Promise<boolean> | undefined

  onMessage(message => {
    if (!isChange(message)) return
    const round = rounds.get(message.id)
    if (!round) return
    if (message.change === 'forwarded') round.missing += message.siblings
    else if (message.change === 'applied') round.missing -= 1
    if (round.missing === 0) round.settle(true)
  })

  function startRound(): Promise<boolean> {
    const id = ++lastId
    return new Promise<boolean>(resolve => {
      const timer = setTimeout(() => settle(false), applyMillisecondsMax)
      const settle = (isApplied: boolean) => {
        clearTimeout(timer)
        rounds.delete(id)
        running = undefined
        resolve(isApplied)
      }
      rounds.set(id, { missing: 0, settle })
      say({ change: 'committed', id })
    })
  }

  return function publish(): Promise<boolean> {
    if (!running) {
      running = startRound()
      return running
    }
    next ??= running.then(() => {
      next = undefined
      return publish()
    })
    return next
  }
}

export const sayServing = (): void => say('halyard:serving')

function say(message: Message): void {
  // Without its supervisor this process exits on its own.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
