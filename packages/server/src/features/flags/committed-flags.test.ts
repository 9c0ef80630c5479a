import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSqlDatabase } from '../../storage/sql-database.ts'
import { createStoreMemory, sqlStores } from '../../stores.sql.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { type CommittedFlag, createCommittedFlags } from './committed-flags.ts'
import type { Flag } from './flag.ts'

onEachDatabase('flags that were written on this node', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  /** Over the same database, with a memory of its own. */
  function startNode() {
    const memory = createStoreMemory()
    const database = createSqlDatabase(
      s.halyard.storage,
      (db, notes) => sqlStores(db, notes, memory),
      async () => {},
    )
    return {
      isRemembered: (flagId: number) => memory.committedFlags.has(flagId),
      save: (flag: Flag) => database.transaction(tx => tx.flags.save(flag)),
      find: async (flagId: number) => (await database.read(tx => tx.flags.findLive(s.projectId, [flagId])))[0],
      database,
    }
  }

  async function createFlag(key: string): Promise<Flag> {
    const filters = { groups: [{ properties: [], rollout_percentage: 40 }], payloads: { true: '"ü"' } }
    const { body } = await s.post(`${s.project}/feature_flags/`, { key, filters, tags: ['one'], name: 'A flag' })
    return (await s.halyard.database.read(tx => tx.flags.find(s.projectId, body.id)))!
  }

  it('are cached until they are looked up, exactly as they are read', async () => {
    const node = startNode()
    const stored = await createFlag('remembered')
    await node.save({ ...stored, version: 2, name: 'changed', tags: ['two'], deleted: false })
    expect(node.isRemembered(stored.id)).toBe(true)
    const remembered = await node.find(stored.id)
    expect(node.isRemembered(stored.id)).toBe(false)
    expect(remembered).toMatchObject({ version: 2, name: 'changed', tags: ['two'] })
    expect(await node.find(stored.id)).toEqual(remembered)
  })

  it('are read when another node has written them since', async () => {
    const [node, other] = [startNode(), startNode()]
    const stored = await createFlag('overtaken')
    await node.save({ ...stored, version: 2, name: 'here' })
    await other.save({ ...stored, version: 3, name: 'there' })
    expect((await node.find(stored.id))?.name).toBe('there')
    await node.save({ ...stored, version: 4, name: 'here' })
    await other.save({ ...stored, version: 5, deleted: true })
    expect(await node.find(stored.id)).toBeUndefined()
  })

  it('are not cached when their transaction is rolled back', async () => {
    const [node, other] = [startNode(), startNode()]
    const stored = await createFlag('undone')
    const failing = node.database.transaction(async tx => {
      await tx.flags.save({ ...stored, version: 2, name: 'never' })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await other.save({ ...stored, version: 2, name: 'there' })
    expect((await node.find(stored.id))?.name).toBe('there')
  })

  it('are found among others, in their own project alone', async () => {
    const node = startNode()
    const [one, two] = [await createFlag('one of two'), await createFlag('two of two')]
    await node.save({ ...two, version: 2, name: 'changed' })
    const ids = [one.id, two.id, 987_654]
    const found = await node.database.read(tx => tx.flags.findLive(s.projectId, ids))
    expect(found.map(({ id, name }) => [id, name]).sort()).toEqual(
      [
        [one.id, 'A flag'],
        [two.id, 'changed'],
      ].sort(),
    )
    await node.save({ ...two, version: 3 })
    expect(await node.database.read(tx => tx.flags.findLive(s.projectId + 1, ids))).toEqual([])
  })
})

describe('the memory of written flags', () => {
  const written = (id: number, version: number, characters = 10): CommittedFlag => ({
    id,
    version,
    characters,
    read: () => ({ id, version }) as Flag,
  })

  it('gives a flag once, in the version that was written', () => {
    const flags = createCommittedFlags()
    flags.keep(written(1, 1))
    flags.keep(written(1, 2))
    expect(flags.take(1, 2)).toEqual({ id: 1, version: 2 })
    expect(flags.take(1, 2)).toBeUndefined()
    flags.keep(written(1, 3))
    expect(flags.take(1, 4)).toBeUndefined()
  })

  it('keeps no large flag, and not what was there before it', () => {
    const flags = createCommittedFlags()
    flags.keep(written(1, 1))
    flags.keep(written(1, 2, 1_000_000))
    expect(flags.has(1)).toBe(false)
  })

  it('is bounded when no one looks a flag up', () => {
    const flags = createCommittedFlags()
    for (let id = 0; id < 10_000; id++) flags.keep(written(id, 1))
    const kept = Array.from({ length: 10_000 }, (_, id) => id).filter(flags.has)
    expect(kept.length).toBeLessThanOrEqual(1000)
    expect(flags.has(9999)).toBe(true)
  })
})
