import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edgeKey, newEdgeFolder, removeEdgeFolder } from '../../packages/server/src/testing/edges.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { seededRandom } from '../faults/random.ts'
import { runCommand, type ServerProcess, startEdge } from '../faults/server-process.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'

/** The built edge as a process. */

const rounds = Number(process.env.HALYARD_EDGE_KILL_ROUNDS ?? 3)
const requestsPerRound = 40
/** A project counts at most a thousand event names, so names are reused after this number of rounds. */
const namedRounds = 20

let s: Scenario
let key: string
let folder: string
beforeAll(async () => {
  s = await startScenario('sqlite')
  key = await edgeKey(s)
  folder = await newEdgeFolder()
  await s.post(`${s.project}/feature_flags/`, { key: 'first' })
})
afterAll(async () => {
  await s.close()
  await removeEdgeFolder(folder)
})

const total = (events: ReadonlyMap<string, number>): number => [...events.values()].reduce((sum, n) => sum + n, 0)

const start = (): Promise<ServerProcess> =>
  startEdge(['--upstream', s.url, '--data', folder], { HALYARD_UPSTREAM_KEY: key })

describe('killed repeatedly', () => {
  it(
    'counts every acknowledged event once and no event twice',
    async () => {
      const random = seededRandom(11)
      const acknowledged = new Map<string, number>()
      const sent = new Map<string, number>()
      const note = (events: Map<string, number>, event: string) => events.set(event, (events.get(event) ?? 0) + 1)
      for (let round = 0; round < rounds; round++) {
        const edge = await start()
        const killAfter = Math.floor(random() * requestsPerRound)
        let responses = 0
        const requests = Array.from({ length: requestsPerRound }, async (_, n) => {
          const event = `r${round % namedRounds}-${n}`
          note(sent, event)
          const body = JSON.stringify({ api_key: s.projectToken, event, distinct_id: `u${n}` })
          const headers = { 'content-type': 'application/json' }
          const reply = await fetch(`${edge.url}/capture/`, { method: 'POST', headers, body }).catch(() => undefined)
          if (reply?.status === 200) note(acknowledged, event)
          responses += 1
          if (responses === killAfter) await edge.kill()
        })
        await Promise.all(requests)
        await edge.kill()
      }
      const last = await start()
      expect((await fetch(`${last.url}/_readyz`)).status).toBe(200)
      const spoolAt = async () =>
        /halyard_edge_spool_bytes (\d+)/.exec(await (await fetch(`${last.url}/metrics`)).text())?.[1]
      await expect.poll(spoolAt).toBe('0')
      expect(await last.stop()).toBe(0)
      expect(acknowledged.size).toBeGreaterThan(0)
      const range = { from: '2000-01-01T00:00:00.000000Z', to: '2100-01-01T00:00:00.000000Z' }
      const counts = await s.halyard.database.read(async tx => {
        const found: Record<string, number> = {}
        for (const event of sent.keys()) found[event] = await tx.eventCounts.sum(s.projectId, { event, ...range })
        return found
      })
      for (const [event, times] of sent) {
        expect(counts[event], event).toBeGreaterThanOrEqual(acknowledged.get(event) ?? 0)
        expect(counts[event], event).toBeLessThanOrEqual(times)
      }
      console.log(
        `${rounds} kills: ${total(acknowledged)} of ${total(sent)} events acknowledged, none lost, none twice`,
      )
    },
    60_000 + rounds * 20_000,
  )
})

describe('whose disk takes no more', () => {
  /** Runs Node with a limit to the size of files, which needs no rights: writes beyond it are partial, and then fail. */
  async function limitedNode(): Promise<string> {
    const path = join(folder, 'limited-node')
    await writeFile(path, `#!/bin/sh\nulimit -f 512\nexec ${process.execPath} "$@"\n`, { mode: 0o755 })
    return path
  }

  it.skipIf(process.platform === 'win32')(
    '(where files can be limited) refuses events, counts what it acknowledged and nothing else, and recovers',
    async () => {
      const { hostname: host, port } = new URL(s.url)
      const proxy = await startTcpProxy({ host, port: Number(port) })
      const upstream = ['--upstream', `http://127.0.0.1:${proxy.port}`, '--data', folder]
      const edge = await startEdge(upstream, { HALYARD_UPSTREAM_KEY: key }, await limitedNode())
      const event = 'while the disk was full'
      const batch = Array.from({ length: 500 }, (_, n) => ({ event, distinct_id: `u${n}`, properties: { n } }))
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ api_key: s.projectToken, batch })
      let acknowledged = 0
      const send = async (): Promise<number> => {
        const { status } = await fetch(`${edge.url}/batch/`, { method: 'POST', headers, body })
        if (status === 200) acknowledged += batch.length
        return status
      }
      // At the same time, so that several lines are written together, of which some fit.
      const sendMany = async () => new Set(await Promise.all(Array.from({ length: 12 }, send)))
      try {
        await expect.poll(async () => (await fetch(`${edge.url}/_readyz`)).status).toBe(200)
        proxy.refuse()
        await expect.poll(sendMany).toContain(503)
        for (let n = 0; n < 5; n++) await sendMany()
        const flags = await fetch(`${edge.url}/flags/?v=2`, {
          method: 'POST',
          body: JSON.stringify({ token: s.projectToken, distinct_id: 'u1' }),
        })
        expect(flags.status).toBe(200)
        proxy.admit()
        await expect.poll(send, { timeout: 60_000 }).toBe(200)
        const spooled = async () =>
          /halyard_edge_spool_bytes (\d+)/.exec(await (await fetch(`${edge.url}/metrics`)).text())?.[1]
        await expect.poll(spooled, { timeout: 60_000 }).toBe('0')
        const range = { from: '2000-01-01T00:00:00.000000Z', to: '2100-01-01T00:00:00.000000Z' }
        const counted = () => s.halyard.database.read(tx => tx.eventCounts.sum(s.projectId, { event, ...range }))
        expect(await counted()).toBe(acknowledged)
      } finally {
        await edge.kill()
        await proxy.close()
      }
    },
    180_000,
  )
})

describe('edge command', () => {
  it('prints its usage', async () => {
    const { code, output } = await runCommand(['edge', '--help'])
    expect([code, output]).toEqual([0, expect.stringContaining('--upstream')])
  })

  it.each([
    ['no upstream', ['edge'], {}, 'Set the server to replicate'],
    ['no key', ['edge', '--upstream', 'http://127.0.0.1:9'], {}, 'halyard keys create'],
    ['an invalid URL', ['edge', '--upstream', 'nonsense'], {}, 'HALYARD_UPSTREAM must be an http'],
    ['an invalid key', ['edge', '--upstream', 'http://127.0.0.1:9', '--key', 'x'], {}, 'must be a personal API key'],
  ])('%s: prints what to do', async (_name, args, environment, message) => {
    const { code, output } = await runCommand(args, environment)
    expect(code).toBe(78)
    expect(output).toContain(message)
  })

  it('a rejected key: prints the reason and how to create a key', async () => {
    const fresh = await newEdgeFolder()
    const args = ['edge', '--upstream', s.url, '--key', 'phx_wrong', '--data', fresh]
    const { code, output } = await runCommand(args, { PORT: '0' })
    expect(code).toBe(78)
    expect(output).toContain('This API key is not valid')
    expect(output).toContain('--scopes edge:write')
    expect(output).not.toContain('phx_wrong')
    await removeEdgeFolder(fresh)
  })

  it('two edges in one folder: the second one fails', async () => {
    const first = await start()
    const args = ['edge', '--upstream', s.url, '--data', folder]
    const { code, output } = await runCommand(args, { PORT: '0', HALYARD_UPSTREAM_KEY: key })
    expect([code, output]).toEqual([1, expect.stringContaining('Give each edge a folder of its own')])
    expect(await first.stop()).toBe(0)
  })
})
