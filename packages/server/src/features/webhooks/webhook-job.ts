import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '../../concurrency/semaphore.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Job, JobContext } from '../../jobs/job-runner.ts'
import { type DeliveryDeps, deliver } from './deliver-webhooks.ts'
import { enqueueAudit } from './enqueue-audit.ts'
import type { Delivery } from './webhook.ts'

const batchMax = 50
const requestsPerWebhookMax = 4
const requestsMax = 100
/** How often a run looks for webhooks that have something to send since it began. */
const scanMilliseconds = 250

/** A receiver that takes longer gets no further request in the second part of a run, so that it cannot prolong the run for all others. */
const slowMilliseconds = 1000
const firstPartMilliseconds = 20_000
/** With the last requests, a run ends before its lease of a minute. */
const runMillisecondsMax = 45_000

const retentionMilliseconds = 7 * 24 * 3_600_000
const trimMax = 1000

/** Sends what is due. Each webhook has its own queue: a slow receiver delays only itself. */
export const webhookJob = (deps: DeliveryDeps): Job => ({
  name: 'webhooks',
  async run(context) {
    const before = plusMilliseconds(context.now, -retentionMilliseconds)
    await context.transaction(tx => tx.webhooks.trimDeliveries(before, trimMax))
    await enqueueAudit(context)
    await new DeliveryRun(context, deps).run()
  },
})

class DeliveryRun {
  readonly #context: JobContext
  readonly #deps: DeliveryDeps
  readonly #startedAt = performance.now()
  readonly #requests = new Semaphore({ permits: requestsMax })
  /** The queues that are being sent, by webhook. */
  readonly #queues = new Map<number, Promise<void>>()
  readonly #slow = new Set<number>()
  #hasFailed = false

  constructor(context: JobContext, deps: DeliveryDeps) {
    this.#context = context
    this.#deps = deps
  }

  async run(): Promise<void> {
    try {
      while (!this.#isOver) {
        for (const id of await this.#context.read(tx => tx.webhooks.listWithDue(this.#now))) {
          if (!this.#queues.has(id) && this.#isServed(id)) this.#begin(id)
        }
        if (this.#queues.size === 0) return
        await this.#nextScan()
      }
      await Promise.all(this.#queues.values())
    } catch (error) {
      this.#hasFailed = true
      await Promise.allSettled(this.#queues.values())
      throw error
    }
  }

  #begin(webhookId: number): void {
    const queue = this.#send(webhookId).finally(() => this.#queues.delete(webhookId))
    // A failure is raised where the queues are awaited.
    queue.catch(() => {})
    this.#queues.set(webhookId, queue)
  }

  async #nextScan(): Promise<void> {
    const timer = new AbortController()
    const pause = delay(scanMilliseconds, undefined, { signal: timer.signal }).catch(() => {})
    await Promise.race([pause, ...this.#queues.values()]).finally(() => timer.abort())
  }

  /** Sends until nothing is due. A receiver that fails gets one request at a time, so that it is disabled after exactly so many. */
  async #send(webhookId: number): Promise<void> {
    while (this.#isServed(webhookId)) {
      const batch = await this.#context.read(async tx => {
        const [webhook] = await tx.webhooks.findAll([webhookId])
        if (!webhook?.enabled) return []
        return tx.webhooks.listDue(webhookId, this.#now, webhook.failures > 0 ? 1 : batchMax)
      })
      if (batch.length === 0) return
      await this.#sendBatch(webhookId, batch)
    }
  }

  /** Events of one object are sent one after another, those of several objects at once. Ends at the first failure. */
  async #sendBatch(webhookId: number, batch: readonly Delivery[]): Promise<void> {
    const permits = new Semaphore({ permits: requestsPerWebhookMax })
    let isFailing = false
    const sendInOrder = async (deliveries: readonly Delivery[]) => {
      for (const delivery of deliveries) {
        if (isFailing || !this.#isServed(webhookId)) return
        const sent = await this.#requests.run(() => this.#deliver(delivery))
        if (sent?.failure) isFailing = true
      }
    }
    const outcomes = await Promise.allSettled(
      byObject(batch).map(deliveries => permits.run(() => sendInOrder(deliveries))),
    )
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #deliver(delivery: Delivery): Promise<Delivery | undefined> {
    const start = performance.now()
    try {
      return await deliver(this.#context, this.#deps, delivery, this.#now)
    } finally {
      if (performance.now() - start > slowMilliseconds) this.#slow.add(delivery.webhookId)
    }
  }

  /** A run takes time, in which more becomes due. */
  get #now(): Instant {
    return plusMilliseconds(this.#context.now, this.#elapsed)
  }

  get #elapsed(): number {
    return Math.floor(performance.now() - this.#startedAt)
  }

  get #isOver(): boolean {
    return this.#hasFailed || this.#context.isStopping() || this.#elapsed > runMillisecondsMax
  }

  #isServed(webhookId: number): boolean {
    return !this.#isOver && (this.#elapsed < firstPartMilliseconds || !this.#slow.has(webhookId))
  }
}

function byObject(deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  const objects = new Map<string, Delivery[]>()
  for (const delivery of deliveries) {
    const name = `${delivery.event.scope} ${delivery.event.itemId}`
    const queue = objects.get(name)
    if (queue) queue.push(delivery)
    else objects.set(name, [delivery])
  }
  return [...objects.values()]
}
