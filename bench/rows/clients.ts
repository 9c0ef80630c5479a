import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@halyard/client'
import { ownerKey } from '../../tests/faults/server-process.ts'
import type { Installations } from '../installation.ts'
import { startServing } from '../load.ts'
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
/** The third of 200 is too few for a p99. */
const pushedChangesFactor = 5
/** In the first changes, processes that have just started collect garbage and compile. */
const warmUpChanges = 50

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
    const delays = await delaysOf(client, changes, Math.min(changes, warmUpChanges))
    await client.stop()
    figures.push({
      measure: `change is visible in ${name}, p99 after the request`,
      value: quantile(delays, 0.99),
      unit: 'ms',
      ...(atMost !== undefined && { atMost }),
      note: `p50 ${median(delays).toFixed(1)} ms, ${changes} changes`,
    })
  }
  const pushed = size.changes * pushedChangesFactor
  await enter('a bare push: write, sync, send', startBarePush, pushed)
  await enter('@halyard/client, including the commit', () => startHalyardClient(installations), pushed, 20)
  await enter('flagd-provider in process, pushed without a commit', () => startFlagdClient(peers), size.changes)
  await enter(
    'unleash-client, polling every second',
    () => startUnleashClient(peers),
    Math.min(size.changes, polledChangesMax),
  )
  return figures
}

async function delaysOf(client: FollowingClient, changes: number, warmUp: number): Promise<number[]> {
  const delays: number[] = []
  let wanted: { readonly value: string; readonly resolve: (at: number) => void } | undefined
  const check = async () => {
    const { value, resolve } = wanted ?? {}
    if (resolve !== undefined && (await client.value()) === value) resolve(performance.now())
  }
  client.onDefinitions(() => void check())
  for (let change = -warmUp; change < changes; change++) {
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

/** What any server needs on this machine: a request, a synced write and an event. */
async function startBarePush(): Promise<FollowingClient> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-'))
  const server = await startServing('push-server', [join(folder, 'file')])
  const url = `http://127.0.0.1:${server.port}/`
  const following = new AbortController()
  const { body } = await fetch(url, { signal: following.signal })
  let last = ''
  const listeners: (() => void)[] = []
  const read = async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      last = /^data: (.*)$/m.exec(chunk)?.[1] ?? last
      for (const listener of listeners) listener()
    }
  }
  // Ends when it is stopped.
  read().catch(() => {})
  return {
    async change(value) {
      await (await fetch(url, { method: 'PATCH', body: value })).arrayBuffer()
    },
    value: () => last,
    onDefinitions: listener => void listeners.push(listener),
    async stop() {
      following.abort()
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
