import { createClient } from '@halyard/client'
import { ownerKey } from '../../tests/faults/server-process.ts'
import type { Installations } from '../installation.ts'
import { type Figure, median, quantile } from '../measure.ts'
import { startFlagdClient } from '../peers/flagd-provider.ts'
import { startUnleashClient } from '../peers/unleash-polling.ts'
import type { Row } from '../row.ts'

/** A library that evaluates in its process, and the source of its definitions. */
export interface FollowingClient {
  /** Changes a flag so that it evaluates to this text. Resolves when the source has accepted the change. */
  change(value: string): Promise<void>
  /** What the library evaluates the flag to now. */
  value(): Promise<string> | string
  /** Calls the listener whenever the library has received definitions. */
  onDefinitions(listener: () => void): void
  stop(): Promise<void>
}

/** Polling takes seconds for each change. */
const polledChangesMax = 20

/** Delay until the evaluation in a process that follows the definitions returns the value of a change. */
export const clients: Row = async ({ size, installations, peers, log }) => {
  const figures: Figure[] = []
  const enter = async (
    name: string,
    start: () => Promise<FollowingClient | undefined>,
    changes: number,
    atMost?: number,
  ) => {
    log(`  ${name} …`)
    const client = await start()
    if (client === undefined) {
      if (peers.areEnabled) log(`  ${name}: not installed`)
      return
    }
    const delays = await delaysOf(client, changes)
    await client.stop()
    figures.push({
      measure: `change is visible in ${name}, p99 after the request`,
      value: quantile(delays, 0.99),
      unit: 'ms',
      ...(atMost !== undefined && { atMost }),
      note: `p50 ${median(delays).toFixed(1)} ms, ${changes} changes`,
    })
  }
  await enter('@halyard/client, including the commit', () => startHalyardClient(installations), size.changes, 20)
  await enter('flagd-provider in process, pushed without a commit', () => startFlagdClient(peers), size.changes)
  await enter(
    'unleash-client, polling every second',
    () => startUnleashClient(peers),
    Math.min(size.changes, polledChangesMax),
  )
  return figures
}

async function delaysOf(client: FollowingClient, changes: number): Promise<number[]> {
  const delays: number[] = []
  let wanted: { readonly value: string; readonly resolve: (at: number) => void } | undefined
  const check = async () => {
    const { value, resolve } = wanted ?? {}
    if (resolve !== undefined && (await client.value()) === value) resolve(performance.now())
  }
  client.onDefinitions(() => void check())
  // The first changes are a warm-up.
  for (let change = -3; change < changes; change++) {
    const value = `marker-${change}`
    const seen = new Promise<number>(resolve => {
      wanted = { value, resolve }
    })
    const sent = performance.now()
    await client.change(value)
    const at = await seen
    if (change >= 0) delays.push(at - sent)
  }
  return delays
}

async function startHalyardClient(installations: Installations): Promise<FollowingClient> {
  const server = await installations.start(100)
  const flags = `/api/projects/${server.projectId}/feature_flags/`
  const { results } = (await server.request('GET', `${flags}?limit=1`)) as { results: { id: number; key: string }[] }
  const { id, key } = results[0]!
  const client = createClient({ url: server.url, key: ownerKey, projectToken: server.token, exposures: false })
  await client.ready({ timeoutMilliseconds: 60_000 })
  return {
    async change(value) {
      const filters = { groups: [{ properties: [] }], payloads: { true: JSON.stringify(value) } }
      await server.request('PATCH', `${flags}${id}/`, { filters })
    },
    value: () => String(client.evaluateLocally(key, { distinctId: 'user' }).payload),
    onDefinitions: listener => void client.on('change', listener),
    async stop() {
      await client.close()
      await server.stop()
    },
  }
}
