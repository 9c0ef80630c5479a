import { afterAll, expect, test } from 'vitest'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { createWorkerSandbox } from '../../../sandbox/worker-sandbox.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import { createActivePlugin } from './active-plugin.ts'
import { createRealmPool, type PooledPlugin, realmPoolLimits } from './realm-pool.ts'
import { createRecordingServices } from './services/recording-services.ts'

const workers = createWorkerSandbox({ workersMax: 2 })
afterAll(() => workers.close())

/** Counts the open realms and records the maximum. */
function countRealms(sandbox: Sandbox) {
  const counts = { open: 0, most: 0, opened: 0 }
  const counting: Sandbox = {
    async open(...args) {
      counts.open += 1
      counts.opened += 1
      counts.most = Math.max(counts.most, counts.open)
      const realm = await sandbox.open(...args)
      let isOpen = true
      return {
        call: realm.call,
        get lost() {
          return realm.lost
        },
        close() {
          if (isOpen) counts.open -= 1
          isOpen = false
          realm.close()
        },
      }
    },
    close: sandbox.close,
  }
  return { counts, counting }
}

const holdsMemory = `
  const held = Array.from({ length: 100_000 }, (_, n) => n)
  module.exports.processEvent = event => ({ ...event, held: held.length })`

function createPlugins(count: number, organizations: number, limits: Partial<typeof realmPoolLimits>) {
  const { counts, counting } = countRealms(workers)
  const pool = createRealmPool({ ...realmPoolLimits, ...limits })
  const plugins = Array.from({ length: count }, (_, id) => {
    const capabilities = { methods: ['processEvent'] }
    const enabled = {
      config: { id },
      plugin: { id, name: `p${id}`, capabilities },
      organizationId: `o${id % organizations}`,
    } as unknown as EnabledConfig
    return createActivePlugin(enabled, {
      sandbox: counting,
      pool,
      redact: text => text,
      services: createRecordingServices(),
      log: { write: () => {}, flush: async () => {} },
      meter: { called: () => {}, dropped: () => {}, flush: async () => {} },
      load: async () => ({ code: holdsMemory, setup: { config: {}, attachments: {} } }),
      giveUp: () => {},
    })
  })
  const callAll = () => Promise.all(plugins.map(plugin => plugin.call('processEvent', [{ event: 'x' }])))
  const close = () => Promise.all(plugins.map(plugin => plugin.close()))
  return { counts, pool, plugins, callAll, close }
}

const answers = (count: number) => Array.from({ length: count }, () => ({ event: 'x', held: 100_000 }))

test('never more realms are open than the process allows, and every plugin works', async () => {
  const { counts, pool, callAll, close } = createPlugins(30, 30, { realmsMax: 4, waitMsMax: 120_000 })
  expect(await callAll()).toEqual(answers(30))
  expect(await callAll()).toEqual(answers(30))
  expect(counts.most).toBe(4)
  expect(counts.opened).toBeGreaterThan(30)
  expect(pool.openRealms).toBe(4)
  await close()
  expect([counts.open, pool.openRealms]).toEqual([0, 0])
}, 240_000)

test('an organization uses no more than its share', async () => {
  const { counts, callAll, close } = createPlugins(10, 2, { realmsPerOrganizationMax: 2, waitMsMax: 120_000 })
  expect(await callAll()).toEqual(answers(10))
  expect(counts.most).toBeLessThanOrEqual(4)
  await close()
}, 240_000)

test('idle realms are closed when all together hold too much memory', async () => {
  const { counts, pool, plugins, close } = createPlugins(8, 8, { memoryBytesMax: 12 * 1024 * 1024 })
  for (const plugin of plugins) await plugin.call('processEvent', [{ event: 'x' }])
  expect(counts.most).toBeLessThanOrEqual(3)
  expect(pool.openRealms).toBeLessThanOrEqual(3)
  await close()
}, 120_000)

function fake(name: string, evicted: string[] = [], organizationId = 'o'): PooledPlugin {
  return { organizationId, memoryBytes: () => 0, evict: async () => void evicted.push(name) }
}

test('the realm that was used least recently is closed first', async () => {
  const evicted: string[] = []
  const pool = createRealmPool({ ...realmPoolLimits, realmsMax: 2 })
  const [a, b, c] = [fake('a', evicted), fake('b', evicted), fake('c', evicted)]
  for (const plugin of [a, b, a]) (await pool.acquire(plugin))()
  const release = await pool.acquire(c)
  expect(evicted).toEqual(['b'])
  expect([pool.hasCapacity(a), pool.hasCapacity(b)]).toEqual([true, false])
  release()
})

test('a call waits while all realms are busy, and fails when none becomes idle in time', async () => {
  const pool = createRealmPool({ ...realmPoolLimits, realmsMax: 1, waitMsMax: 50 })
  const [a, b] = [fake('a'), fake('b')]
  const release = await pool.acquire(a)
  await expect(pool.acquire(b)).rejects.toMatchObject({ kind: 'neighbor' })
  const waiting = pool.acquire(b)
  release()
  ;(await waiting)()
  expect(pool.openRealms).toBe(1)
})
