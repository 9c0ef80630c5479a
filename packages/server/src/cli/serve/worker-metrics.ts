import type { Worker } from 'node:cluster'
import { aggregate } from '../../observability/metrics.ts'

/**
 * A worker that is scraped sends `gather`; the supervisor sends `collect` to every worker, waits for what each has `collected`, and
 * returns it all as `gathered`.
 */
export type MetricsMessage =
  | { readonly metrics: 'gather'; readonly id: number }
  | { readonly metrics: 'collect' }
  | { readonly metrics: 'collected'; readonly values: readonly Metric[] }
  | { readonly metrics: 'gathered'; readonly id: number; readonly all: readonly (readonly Metric[])[] }

/** As prom-client serializes it. */
interface Metric {
  readonly type: unknown
}

/** A worker that has not responded by then is represented by its last values. */
const collectMillisecondsMax = 1000
const gatherMillisecondsMax = 3000

/** The supervisor's part. Counters of workers that have exited stay in the sums: a sum that shrinks looks like a restart. */
export function createMetricsGatherer(serving: () => readonly Worker[]) {
  const lastOf = new Map<Worker, readonly Metric[]>()
  const asking: { readonly worker: Worker; readonly id: number }[] = []
  const missing = new Set<Worker>()
  let retired: readonly Metric[] = []
  let timer: NodeJS.Timeout | undefined

  function finish(): void {
    clearTimeout(timer)
    timer = undefined
    missing.clear()
    const all = [...lastOf.values(), retired]
    for (const { worker, id } of asking.splice(0)) {
      if (!worker.isDead()) worker.send({ metrics: 'gathered', id, all } satisfies MetricsMessage)
    }
  }

  return {
    receive(from: Worker, message: MetricsMessage): void {
      if (message.metrics === 'gather') {
        asking.push({ worker: from, id: message.id })
        // Requests that arrive meanwhile share the round.
        if (timer) return
        timer = setTimeout(finish, collectMillisecondsMax)
        for (const worker of serving()) {
          missing.add(worker)
          worker.send({ metrics: 'collect' } satisfies MetricsMessage)
        }
      } else if (message.metrics === 'collected') {
        lastOf.set(from, message.values)
        missing.delete(from)
        if (missing.size === 0 && timer) finish()
      }
    },
    async exited(worker: Worker): Promise<void> {
      const last = lastOf.get(worker)
      lastOf.delete(worker)
      missing.delete(worker)
      if (missing.size === 0 && timer) finish()
      if (last)
        retired = (await aggregate([retired, last.filter(isCumulative)]).getMetricsAsJSON()) as unknown as Metric[]
    },
  }
}

const isCumulative = ({ type }: Metric): boolean => type === 'counter' || type === 'histogram'

/** A worker's part. */
export function createMetricsClient(
  send: (message: MetricsMessage) => void,
  onMessage: (listener: (message: MetricsMessage) => void) => void,
) {
  const waiting = new Map<number, (all: readonly (readonly Metric[])[]) => void>()
  let lastId = 0
  onMessage(message => {
    if (message.metrics !== 'gathered') return
    waiting.get(message.id)?.(message.all)
    waiting.delete(message.id)
  })
  return {
    gatherMetrics(): Promise<readonly unknown[]> {
      const id = ++lastId
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id)
          reject(new Error('The supervisor did not return the metrics of all workers in time.'))
        }, gatherMillisecondsMax)
        waiting.set(id, all => {
          clearTimeout(timer)
          resolve(all)
        })
        send({ metrics: 'gather', id })
      })
    },
    onMetricsWanted(collect: () => Promise<unknown>): void {
      onMessage(message => {
        if (message.metrics !== 'collect') return
        collect().then(
          values => send({ metrics: 'collected', values: values as Metric[] }),
          () => {},
        )
      })
    },
  }
}
