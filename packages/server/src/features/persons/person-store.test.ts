import { describe, expect, it } from 'vitest'
import type { PersonStores } from '../../stores.ts'
import { onEachPersonsDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { newUuid } from '../identity/secret.ts'
import { createPersonLedger, type PersonLedger } from './person-ledger.ts'

const at = '2026-01-01T00:00:00.000000Z'
const set = (properties: Record<string, unknown>) => ({ set: properties, setOnce: {}, unset: [] })

onEachPersonsDatabase('person and group stores', (dialect, persons) => {
  const s = suiteScenario(dialect, persons)

  const write = (tx: PersonStores, ids: readonly string[], change: (ledger: PersonLedger) => void) =>
    tx.persons.findByDistinctIds(s.projectId, ids).then(known => {
      const ledger = createPersonLedger(known, newUuid)
      change(ledger)
      return tx.persons.write(s.projectId, ledger.drafts())
    })
  const record = (ids: readonly string[], change: (ledger: PersonLedger) => void) =>
    s.halyard.database.people.transaction(tx => write(tx, ids, change))
  const find = (id: string) =>
    s.halyard.database.people.read(async tx => (await tx.persons.findByDistinctIds(s.projectId, [id])).get(id))

  it('stores, finds and updates persons by any of their ids', async () => {
    await record(['one', 'two'], ledger => {
      ledger.update('one', set({ email: 'one@example.com', text: 'ü\u0000🦔', 'odd "name"': null }), at)
      ledger.merge('one', 'two', at, 'identify')
    })
    const person = await find('two')
    expect(person).toMatchObject({
      properties: { email: 'one@example.com', text: 'ü\u0000🦔', 'odd "name"': null },
      isIdentified: true,
      distinctIdCount: 2,
      version: 1,
      createdAt: at,
    })
    await record(['two'], ledger => ledger.update('two', set({ text: 'new' }), at))
    expect(await find('one')).toMatchObject({ id: person?.id, version: 2, properties: { text: 'new' } })
    expect(await find('three')).toBeUndefined()
  })

  it('merges stored persons with all their ids and hash keys; keys of the surviving person take precedence', async () => {
    await record([], ledger => {
      for (const id of ['a1', 'b1']) ledger.see(id, at)
    })
    await record(['a1', 'b1'], ledger => {
      ledger.merge('b1', 'b2', at, 'identify')
      ledger.update('a1', set({ from: 'a' }), at)
    })
    const [a, b] = [await find('a1'), await find('b1')]
    await s.halyard.database.people.transaction(async tx => {
      await tx.persons.addHashKeys(s.projectId, a?.id ?? 0, [{ flagKey: 'f', hashKey: 'first' }])
      await tx.persons.addHashKeys(s.projectId, a?.id ?? 0, [{ flagKey: 'f', hashKey: 'second' }])
      await tx.persons.addHashKeys(s.projectId, b?.id ?? 0, [
        { flagKey: 'f', hashKey: 'lost' },
        { flagKey: 'g', hashKey: 'moved' },
      ])
    })
    await record(['a1', 'b2'], ledger => ledger.merge('a1', 'b2', at, 'force'))
    expect((await find('b1'))?.id).toBe(a?.id)
    expect((await find('b2'))?.distinctIdCount).toBe(3)
    const keys = await s.halyard.database.people.read(tx => tx.persons.listHashKeys([a?.id ?? 0, b?.id ?? 0]))
    expect(keys.map(key => `${key.flagKey}=${key.hashKey}`).sort()).toEqual(['f=first', 'g=moved'])
    expect(await s.halyard.database.people.read(tx => tx.persons.find(s.projectId, b?.id ?? 0))).toBeUndefined()
    await s.halyard.database.people.transaction(tx =>
      tx.persons.addHashKeys(s.projectId, b?.id ?? 0, [{ flagKey: 'f', hashKey: 'x' }]),
    )
  })

  it('loses no property and creates one person when many writers update the same ids concurrently', async () => {
    const writers = Array.from({ length: 20 }, (_, n) => n)
    await Promise.all(
      writers.map(n =>
        record(['shared', `own-${n}`], ledger => {
          ledger.update('shared', set({ [`fact-${n}`]: n }), at)
          ledger.merge('shared', `own-${n}`, at, 'identify')
        }),
      ),
    )
    const shared = await find('shared')
    expect(Object.keys(shared?.properties ?? {})).toHaveLength(20)
    expect(shared?.distinctIdCount).toBe(21)
    for (const n of writers) expect((await find(`own-${n}`))?.id).toBe(shared?.id)
  })

  it('loses no id when a person is merged while ids are added to it', async () => {
    await record([], ledger => {
      for (const id of ['into', 'from']) ledger.see(id, at)
    })
    await Promise.all([
      record(['into', 'from'], ledger => ledger.merge('into', 'from', at, 'force')),
      ...['x', 'y', 'z'].map(id => record(['from', id], ledger => ledger.merge('from', id, at, 'force'))),
    ])
    const into = await find('into')
    for (const id of ['from', 'x', 'y', 'z']) expect((await find(id))?.id).toBe(into?.id)
    expect(into?.distinctIdCount).toBe(5)
  })

  it('scans all persons in batches and removes one', async () => {
    const ids = Array.from({ length: 1234 }, (_, n) => `many-${n}`)
    await record(ids, ledger => {
      for (const id of ids) ledger.see(id, at)
    })
    const seen: number[] = []
    for (let after = 0; ; ) {
      const batch = await s.halyard.database.people.read(tx => tx.persons.scan(s.projectId, after, 500))
      seen.push(...batch.map(person => person.id))
      if (batch.length < 500) break
      after = batch.at(-1)?.id ?? 0
    }
    const count = await s.halyard.database.people.read(tx => tx.persons.count(s.projectId))
    expect(seen).toHaveLength(count)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    const one = await find('many-7')
    expect(await s.halyard.database.people.transaction(tx => tx.persons.remove(s.projectId, one?.id ?? 0))).toBe(true)
    expect(await s.halyard.database.people.transaction(tx => tx.persons.remove(s.projectId, one?.id ?? 0))).toBe(false)
    expect(await find('many-7')).toBeUndefined()
  })

  describe('groups', () => {
    it('assigns five type indexes, in the order of first use', async () => {
      const ensure = (name: string) => s.halyard.database.transaction(tx => tx.groupTypes.ensure(s.projectId, name))
      const given = await Promise.all(['company', 'company', 'company'].map(ensure))
      expect(given.map(type => type?.index)).toEqual([0, 0, 0])
      for (const [index, name] of ['team', 'server', 'shop', 'region'].entries()) {
        expect(await ensure(name)).toEqual({ index: index + 1, isNew: true })
      }
      expect(await ensure('one too many')).toBeUndefined()
      expect(await ensure('shop')).toEqual({ index: 3, isNew: false })
    })

    it('creates, updates, lists and removes groups', async () => {
      const update = (key: string, properties: Record<string, unknown>) =>
        s.halyard.database.people.transaction(tx =>
          tx.groups.update(s.projectId, { typeIndex: 0, key }, set(properties), at),
        )
      await Promise.all(Array.from({ length: 10 }, (_, n) => update('acme', { [`p${n}`]: n })))
      await update('globex', { Industry: 'Evil' })
      await s.halyard.database.people.read(async tx => {
        const acme = await tx.groups.find(s.projectId, { typeIndex: 0, key: 'acme' })
        expect(Object.keys(acme?.properties ?? {})).toHaveLength(10)
        const list = (search?: string) => tx.groups.list(s.projectId, 0, search, { limit: 10, offset: 0 })
        expect((await list()).items.map(group => group.key)).toEqual(['globex', 'acme'])
        expect((await list('EVIL')).items.map(group => group.key)).toEqual(['globex'])
        expect((await list('%')).count).toBe(0)
      })
      const remove = () =>
        s.halyard.database.people.transaction(tx => tx.groups.remove(s.projectId, { typeIndex: 0, key: 'acme' }))
      expect([await remove(), await remove()]).toEqual([true, false])
    })
  })
})
