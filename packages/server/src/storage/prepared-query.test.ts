import type { Insertable } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../testing/databases.ts'
import { uniqueViolation } from './driver-error.ts'
import { migrate } from './migrations/migrate.ts'
import { openStorage, type Storage } from './open-storage.ts'
import { pipelinedWrite, preparedInsert, preparedListQuery, preparedQuery } from './prepared-query.ts'
import type { Tables } from './tables.generated.ts'

onEachDatabase('a prepared query', dialect => {
  let database: TestDatabase
  let storage: Storage

  beforeEach(async () => {
    database = await createTestDatabase(dialect)
    storage = openStorage(database.url)
    await migrate(storage.kysely, dialect)
  })

  afterEach(async () => {
    await storage.close()
    await database.drop()
  })

  const change = (sequence: number, organization_id: string | null): Tables['changes'] => ({
    sequence,
    topic: 'flag',
    organization_id,
    project_id: null,
    entity_id: `entity ${sequence}`,
    at: '2026-01-31T12:00:00.000000Z',
  })

  it('is prepared once and run with the parameters of each call, in any order', async () => {
    let made = 0
    const insert = preparedQuery((db, row: Tables['changes']) => {
      made += 1
      return db.insertInto('changes').values(row).returning('sequence')
    })
    const { at, ...others } = change(2, null)
    expect((await insert(storage.kysely, change(1, 'first'))).rows).toEqual([{ sequence: 1 }])
    expect((await insert(storage.kysely, { at, ...others })).rows).toEqual([{ sequence: 2 }])
    expect(made).toBe(1)
    const stored = await storage.kysely.selectFrom('changes').selectAll().orderBy('sequence').execute()
    expect(stored).toEqual([change(1, 'first'), change(2, null)])
  })

  it('belongs to the transaction in which it is run', async () => {
    const insert = preparedQuery((db, row: Tables['changes']) => db.insertInto('changes').values(row))
    await insert(storage.kysely, change(1, null))
    const failing = storage.kysely.transaction().execute(async tx => {
      await insert(tx, change(2, null))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    const sequences = await storage.kysely.selectFrom('changes').select('sequence').execute()
    expect(sequences).toEqual([{ sequence: 1 }])
  })

  describe('whose result is not needed', () => {
    const write = pipelinedWrite((db, row: Tables['changes']) => db.insertInto('changes').values(row))
    const sequences = async () =>
      (await storage.kysely.selectFrom('changes').select('sequence').orderBy('sequence').execute()).map(
        row => row.sequence,
      )
    const violation = (failing: Promise<unknown>) => failing.then(() => undefined, uniqueViolation)

    it('is visible after the commit, and before to its own transaction', async () => {
      await storage.kysely.transaction().execute(async tx => {
        for (const sequence of [1, 2, 3]) await write(tx, change(sequence, null))
        expect(await tx.selectFrom('changes').select('sequence').execute()).toHaveLength(3)
        await write(tx, change(4, null))
      })
      expect(await sequences()).toEqual([1, 2, 3, 4])
    })

    it('fails the commit when it fails, in its own words, and nothing is left', async () => {
      const failing = storage.kysely.transaction().execute(async tx => {
        for (const sequence of [1, 2, 1, 3]) await write(tx, change(sequence, null))
      })
      expect(await violation(failing)).toBeDefined()
      expect(await sequences()).toEqual([])
    })

    it('fails the next statement that is waited for, in its own words', async () => {
      const failing = storage.kysely.transaction().execute(async tx => {
        for (const sequence of [1, 1]) await write(tx, change(sequence, null))
        await tx.selectFrom('changes').selectAll().execute()
      })
      expect(await violation(failing)).toBeDefined()
      expect(await sequences()).toEqual([])
    })

    it('goes with the transaction that is given up', async () => {
      const failing = storage.kysely.transaction().execute(async tx => {
        await write(tx, change(1, null))
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await sequences()).toEqual([])
    })

    it('fails on its own outside of a transaction', async () => {
      await write(storage.kysely, change(1, null))
      expect(await violation(write(storage.kysely, change(1, null)))).toBeDefined()
      expect(await sequences()).toEqual([1])
    })
  })

  it('keeps constants, and returns how many rows were changed', async () => {
    const insert = preparedQuery((db, row: Tables['changes']) => db.insertInto('changes').values(row))
    const rename = preparedQuery((db, { from, limit }: { from: number; limit: number }) =>
      db
        .updateTable('changes')
        .set({ topic: 'cohort' })
        .where('topic', '=', 'flag')
        .where('sequence', '>=', from)
        .where('sequence', '<', limit),
    )
    for (const sequence of [1, 2, 3]) await insert(storage.kysely, change(sequence, null))
    expect((await rename(storage.kysely, { from: 1, limit: 3 })).numAffectedRows).toBe(2n)
    expect((await rename(storage.kysely, { from: 1, limit: 9 })).numAffectedRows).toBe(1n)
  })
})

onEachDatabase('a kept insert', dialect => {
  it('returns the id of the row for each run', async () => {
    const database = await createTestDatabase(dialect)
    const storage = openStorage(database.url)
    await migrate(storage.kysely, dialect)
    const insert = preparedInsert((db, row: Insertable<Tables['users']>) => db.insertInto('users').values(row))
    const user = (name: string): Insertable<Tables['users']> => ({
      uuid: name,
      distinct_id: name,
      first_name: name,
      email: `${name}@example.com`,
      is_email_verified: 1,
      is_active: 1,
      date_joined: '2026-01-31T12:00:00.000000Z',
    })
    const ids = new Map<number, string>()
    for (const name of ['ann', 'bob']) ids.set(await insert(storage.kysely, user(name)), name)
    ids.set(await storage.kysely.transaction().execute(tx => insert(tx, user('cid'))), 'cid')
    const stored = await storage.kysely.selectFrom('users').select(['id', 'uuid']).execute()
    expect(new Map(stored.map(({ id, uuid }) => [id, uuid]))).toEqual(ids)
    await expect(insert(storage.kysely, user('ann'))).rejects.toThrow()
    await storage.close()
    await database.drop()
  })
})

onEachDatabase('a prepared query for a list', dialect => {
  it('finds each row once for a list of any length', async () => {
    const database = await createTestDatabase(dialect)
    const storage = openStorage(database.url)
    await migrate(storage.kysely, dialect)
    const all = Array.from({ length: 300 }, (_, index) => index + 1)
    const rows = all.map(sequence => ({ sequence, topic: 'flag', entity_id: '', at: '' }))
    await storage.kysely.insertInto('changes').values(rows).execute()
    let made = 0
    const find = preparedListQuery((db, ids) => {
      made += 1
      return db.selectFrom('changes').select('sequence').where('sequence', 'in', ids).orderBy('sequence')
    })
    const found = async (ids: readonly number[]) => (await find(storage.kysely, ids)).map(row => row.sequence)
    for (const length of [0, 1, 2, 3, 4, 5, 8, 3]) {
      expect(await found(all.slice(0, length))).toEqual(all.slice(0, length))
    }
    // For one, two, four and eight.
    expect(made).toBe(4)
    for (const length of [255, 256, 257, 300]) expect(await found(all.slice(0, length))).toEqual(all.slice(0, length))
    expect(await found([7, 5, 999])).toEqual([5, 7])
    await storage.close()
    await database.drop()
  })
})

it('is compiled again for another kind of database', async () => {
  const statement = preparedQuery((db, { id }: { id: number }) =>
    db.selectFrom('change_head').select('sequence').where('id', '=', id),
  )
  for (const dialect of ['sqlite', 'postgres'] as const) {
    const database = await createTestDatabase(dialect)
    const storage = openStorage(database.url)
    await migrate(storage.kysely, dialect)
    expect((await statement(storage.kysely, { id: 1 })).rows).toEqual([{ sequence: 0 }])
    await storage.close()
    await database.drop()
  }
})
