import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'

interface Target {
  readonly url: string
  readonly isServing: boolean
}

export interface FaultLoad {
  /** Begins when every target serves the flags. */
  start(): Promise<void>
  /** Ends when no request is under way. */
  stop(): Promise<void>
  /** Resolves when more events are acknowledged and more evaluations succeed; if asked for, also those that need stored properties. */
  continues(needs?: { readonly withStoredProperties: boolean }): Promise<void>
  /** A refusal says that nothing was stored. Those of broken requests, and of commits without a response, may be recorded or not. */
  readonly events: { readonly acknowledged: number; readonly refused: number; readonly unknown: number }
  /** The people who are in acknowledged events. */
  readonly acknowledgedIds: readonly string[]
  readonly failedEvaluations: readonly string[]
}

const batchSize = 20
const requestsMore = 20
const patience = { timeout: 120_000 }

/** Sends events to every target, and evaluates as behind a load balancer: a target that is down is passed over. */
export function createFaultLoad(token: string, nodes: readonly Target[], edges: readonly Target[]): FaultLoad {
  const events = { acknowledged: 0, refused: 0, unknown: 0 }
  const acknowledgedIds: string[] = []
  const evaluations = { succeeded: 0, withStoredProperties: 0 }
  const failedEvaluations: string[] = []
  let isRunning = false
  let loops: Promise<unknown> = Promise.resolve()
  let sent = 0

  async function sendBatch({ url, isServing }: Target): Promise<void> {
    if (!isServing) return
    const ids = Array.from({ length: batchSize }, () => `buyer-${sent++}`)
    const properties = { $feature_flag: 'plain', $feature_flag_response: true }
    const batch = ids.map(distinct_id => ({ event: '$feature_flag_called', distinct_id, properties }))
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ api_key: token, batch })
    const response = await fetch(`${url}/batch/`, { method: 'POST', body, headers }).catch(() => undefined)
    const text = (await response?.text().catch(() => {})) ?? ''
    if (response?.status === 200) {
      events.acknowledged += batchSize
      acknowledgedIds.push(...ids)
    } else if (/; nothing (of this request )?was (changed|stored)\b/.test(text)) events.refused += batchSize
    else events.unknown += batchSize
  }

  async function ask({ url }: Target) {
    const body = JSON.stringify({ token, distinct_id: 'known' })
    try {
      const response = await fetch(`${url}/flags/?v=2`, { method: 'POST', body })
      return { status: response.status, text: await response.text() }
    } catch {
      return undefined
    }
  }

  async function evaluate(targets: readonly Target[]): Promise<void> {
    for (const target of targets) {
      if (!target.isServing) continue
      const answer = await ask(target)
      if (!answer) continue
      const { flags = {}, errorsWhileComputingFlags } = answer.status === 200 ? JSON.parse(answer.text) : {}
      const isStored = flags.stored?.enabled === true
      // A flag that needs a look-up may fail when that takes too long; but it is never off for a person who has it.
      if (flags.plain?.enabled === true && (isStored || errorsWhileComputingFlags)) evaluations.succeeded += 1
      else failedEvaluations.push(`${target.url}: ${answer.status} ${answer.text}`)
      if (isStored) evaluations.withStoredProperties += 1
      return
    }
    failedEvaluations.push('no target responds')
  }

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (isRunning) {
      await work()
      await wait(10)
    }
  }

  return {
    events,
    acknowledgedIds,
    failedEvaluations,
    async start() {
      const targets = [...nodes, ...edges]
      const keysAt = async (target: Target) => Object.keys(JSON.parse((await ask(target))?.text ?? '{}').flags ?? {})
      for (const target of targets) await expect.poll(() => keysAt(target), patience).toEqual(['plain', 'stored'])
      isRunning = true
      const fromEach = (list: readonly Target[]) => list.map((_, n) => [...list.slice(n), ...list.slice(0, n)])
      loops = Promise.all([
        ...targets.map(target => repeat(() => sendBatch(target))),
        ...[...fromEach(nodes), ...fromEach(edges)].map(list => repeat(() => evaluate(list))),
      ])
    },
    async stop() {
      isRunning = false
      await loops
    },
    async continues({ withStoredProperties = false } = { withStoredProperties: false }) {
      const [acknowledged, succeeded, stored] = [
        events.acknowledged + requestsMore * batchSize,
        evaluations.succeeded + requestsMore,
        evaluations.withStoredProperties + requestsMore,
      ]
      await expect.poll(() => events.acknowledged, patience).toBeGreaterThan(acknowledged)
      await expect.poll(() => evaluations.succeeded, patience).toBeGreaterThan(succeeded)
      if (withStoredProperties)
        await expect.poll(() => evaluations.withStoredProperties, patience).toBeGreaterThan(stored)
    },
  }
}
