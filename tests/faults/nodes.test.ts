import { expect, it, vi } from 'vitest'
import type { Change } from '../../packages/server/src/storage/changes/changes.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { addressOf, startTcpProxy, through } from './tcp-proxy.ts'

const changesCount = Number(process.env.HALYARD_PROPAGATION_CHANGES ?? 40)
const patience = { timeout: 25_000, interval: 20 }

/** Several nodes on one PostgreSQL, like processes on several machines. */
async function startNodes(
  environments: readonly Record<string, string>[],
  work: (nodes: readonly Scenario[], database: TestDatabase) => Promise<void>,
  urlOf: (index: number, url: string) => string = (_index, url) => url,
): Promise<void> {
  const database = await createTestDatabase('postgres')
  const nodes: Scenario[] = []
  try {
    for (const [index, environment] of environments.entries()) {
      nodes.push(await startScenario('postgres', { databaseUrl: urlOf(index, database.url), environment }))
    }
    await work(nodes, database)
  } finally {
    for (const node of nodes) await node.close()
    await database.drop()
  }
}

/** Records when a node's feed delivers each change. */
function watch(node: Scenario): { readonly seen: Change[]; at(flagId: number, nth: number): number | undefined } {
  const seen: Change[] = []
  const times = new Map<string, number[]>()
  node.halyard.changes.subscribe(changes => {
    for (const change of changes) {
      seen.push(change)
      times.set(change.entityId, [...(times.get(change.entityId) ?? []), performance.now()])
    }
  }, expect.unreachable)
  return { seen, at: (flagId, nth) => times.get(String(flagId))?.[nth] }
}

async function changeMany(writer: Scenario, count: number): Promise<{ flagId: number; responded: number[] }> {
  const { id } = (await writer.post(`${writer.project}/feature_flags/`, { key: `moving-${Math.random()}` })).body
  const responded: number[] = [performance.now()]
  for (let index = 1; index < count; index++) {
    const reply = await writer.patch(`${writer.project}/feature_flags/${id}/`, { name: `change ${index}` })
    expect(reply.status).toBe(200)
    responded.push(performance.now())
  }
  return { flagId: id, responded }
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

for (const channel of ['notify', 'poll'] as const) {
  it(`three nodes, channel ${channel}: every change reaches every node in the same order`, async () => {
    const environment = { HALYARD_CHANGE_CHANNEL: channel }
    await startNodes([environment, environment, environment], async nodes => {
      // After the first evaluation, snapshots follow every change.
      for (const node of nodes) await node.post('/flags/?v=2', { token: node.projectToken, distinct_id: 'user' })
      const watched = nodes.map(watch)
      const { flagId, responded } = await changeMany(nodes[0]!, changesCount)
      await vi.waitFor(() => {
        for (const node of watched) expect(node.at(flagId, changesCount - 1)).toBeDefined()
      }, patience)
      const orders = watched.map(node =>
        node.seen.filter(change => change.topic === 'flag').map(change => change.sequence),
      )
      expect(orders[1]).toEqual(orders[0])
      expect(orders[2]).toEqual(orders[0])
      // The node that receives a change applies it before it responds.
      for (const [nth, time] of responded.entries()) expect(watched[0]!.at(flagId, nth)).toBeLessThanOrEqual(time)
      const delays = watched.slice(1).flatMap(node => responded.map((time, nth) => node.at(flagId, nth)! - time))
      console.log(
        `${channel}: ${delays.length} deliveries to other nodes, from response to delivery in ms: ` +
          `p50 ${percentile(delays, 0.5).toFixed(1)}, p99 ${percentile(delays, 0.99).toFixed(1)}, max ${Math.max(...delays).toFixed(1)}`,
      )
    })
  }, 600_000)
}

it('concurrent writers on three nodes change one flag: no change is lost on any node', async () => {
  await startNodes([{}, {}, {}], async nodes => {
    const [first] = nodes
    const { id } = (await first!.post(`${first!.project}/feature_flags/`, { key: 'contested' })).body
    const path = `${first!.project}/feature_flags/${id}/`
    // On a busy machine some requests time out with 503. They changed nothing, which the version proves.
    const save = async (index: number) => {
      for (;;) {
        const reply = await nodes[index % 3]!.patch(path, { name: `writer ${index}` })
        if (reply.status !== 503) return reply
      }
    }
    const replies = await Promise.all(Array.from({ length: 30 }, (_, index) => save(index)))
    expect(replies.map(reply => reply.status)).toEqual(replies.map(() => 200))
    for (const node of nodes) expect((await node.get(path)).body.version).toBe(31)
  })
})

it('a node whose connections are closed, or whose network freezes for a while, catches up automatically', async () => {
  const opened = await createTestDatabase('postgres')
  const proxy = await startTcpProxy(addressOf(opened.url))
  await opened.drop()
  await startNodes(
    [{}, { HALYARD_STATEMENT_MILLISECONDS_MAX: '500' }],
    async ([writer, follower]) => {
      const watched = watch(follower!)
      const arrives = (flagId: number, nth: number) =>
        vi.waitFor(() => expect(watched.at(flagId, nth)).toBeDefined(), patience)

      proxy.cut()
      const afterCut = await changeMany(writer!, 5)
      await arrives(afterCut.flagId, 4)

      proxy.freeze()
      const whileFrozen = await changeMany(writer!, 5)
      expect(watched.at(whileFrozen.flagId, 0)).toBeUndefined()
      proxy.thaw()
      await arrives(whileFrozen.flagId, 4)
      const evaluated = await follower!.post('/flags/?v=2', { token: follower!.projectToken, distinct_id: 'user' })
      expect(Object.keys(evaluated.body.flags)).toHaveLength(2)
    },
    (index, url) => (index === 1 ? through(proxy, url) : url),
  )
  await proxy.close()
})

it('a lost notification delays a change but does not lose it', async () => {
  // The writer polls and therefore never notifies; the other node listens in vain.
  await startNodes(
    [{ HALYARD_CHANGE_CHANNEL: 'poll' }, { HALYARD_CHANGE_POLL_MILLISECONDS: '200' }],
    async ([writer, other]) => {
      const watched = watch(other!)
      const { flagId } = await changeMany(writer!, 5)
      await vi.waitFor(() => expect(watched.at(flagId, 4)).toBeDefined(), patience)
    },
  )
})

it('two nodes that start concurrently on an empty database create one owner', async () => {
  const database = await createTestDatabase('postgres', 'empty')
  const nodes = await Promise.all([0, 1, 2].map(() => startScenario('postgres', { databaseUrl: database.url })))
  try {
    expect(nodes.filter(node => node.halyard.firstOwner).length).toBe(1)
    expect(new Set(nodes.map(node => node.projectToken)).size).toBe(1)
  } finally {
    for (const node of nodes) await node.close()
    await database.drop()
  }
})
