import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/databases.ts'
import { isDatabaseAway } from '../driver-error.ts'
import { openStorage, type Storage } from '../open-storage.ts'
import { pipelinedWrite, preparedQuery } from '../prepared-query.ts'
import { createSqlDatabase } from '../sql-database.ts'

let database: TestDatabase
let storage: Storage

beforeEach(async () => {
  database = await createTestDatabase('postgres')
  storage = openStorage(database.url)
})

afterEach(async () => {
  await storage.close()
  await database.drop()
})

const note = pipelinedWrite((db, { name, value }: { name: string; value: string }) =>
  db.insertInto('instance').values({ name, value }),
)

describe('transactions on PostgreSQL', () => {
  const noted = async () => (await storage.kysely.selectFrom('instance').select('name').execute()).map(row => row.name)
  const backend = sql<{ pid: number }>`select pg_backend_pid() as pid`

  it('fail rather than round an integer that a double cannot hold, and the connection stays usable', async () => {
    const read = (text: string) => sql<{ n: number }>`select ${sql.raw(text)}::bigint as n`.execute(storage.kysely)
    expect((await read('9007199254740991')).rows).toEqual([{ n: 9007199254740991 }])
    await expect(read('9007199254740993')).rejects.toThrow('no safe integer')
    expect((await read('-1')).rows).toEqual([{ n: -1 }])
  })

  it('begin with their first statement, whether it reads or writes', async () => {
    const inTransaction = sql<{
      since: string
      own: string
    }>`select transaction_timestamp() as since, statement_timestamp() as own`
    await storage.kysely.transaction().execute(async tx => {
      const [first] = (await inTransaction.execute(tx)).rows
      const [second] = (await inTransaction.execute(tx)).rows
      expect(second?.since).toEqual(first?.since)
    })
    await expect(
      storage.kysely.transaction().execute(async tx => {
        await tx.insertInto('instance').values({ name: 'written first', value: '' }).execute()
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await storage.kysely.transaction().execute(async () => {})
    expect(await noted()).not.toContain('written first')
  })

  it('use the requested isolation level and read-only mode', async () => {
    const reading = storage.kysely
      .transaction()
      .setAccessMode('read only')
      .setIsolationLevel('repeatable read')
      .execute(async tx => {
        const { rows } = await sql<{ level: string }>`select current_setting('transaction_isolation') as level`.execute(
          tx,
        )
        expect(rows).toEqual([{ level: 'repeatable read' }])
        await tx.insertInto('instance').values({ name: 'x', value: '' }).execute()
      })
    await expect(reading).rejects.toMatchObject({ code: '25006' })
  })

  it('report an unavailable database when the connection ends between a pipelined write and the commit', async () => {
    const failing = storage.kysely.transaction().execute(async tx => {
      const [{ pid }] = (await backend.execute(tx)).rows as [{ pid: number }]
      await note(tx, { name: 'lost', value: '' })
      await sql`select pg_terminate_backend(${pid}::integer, 10000)`.execute(storage.kysely)
    })
    expect(isDatabaseAway(await failing.catch((error: unknown) => error))).toBe(true)
    expect(await noted()).not.toContain('lost')
  })

  it('leave nothing behind for the next user of the connection', async () => {
    const attempts = Array.from({ length: 40 }, (_, n) =>
      storage.kysely.transaction().execute(async tx => {
        await note(tx, { name: `note ${n}`, value: '' })
        await note(tx, { name: n % 2 ? `note ${n}` : `more ${n}`, value: '' })
      }),
    )
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(outcomes.map((_, n) => n % 2 === 0))
    const found = (await noted()).filter(name => /^(note|more) /.test(name))
    expect(found.toSorted()).toEqual(
      Array.from({ length: 20 }, (_, n) => [`note ${2 * n}`, `more ${2 * n}`])
        .flat()
        .toSorted(),
    )
  })
})

describe('statements that PostgreSQL keeps by name', () => {
  const heads = preparedQuery(db => db.selectFrom('change_head').selectAll())
  const named = sql<{ statement: string }>`select statement from pg_prepared_statements where statement ~ 'change_head'`
  const forget = () => sql`deallocate all`.execute(storage.kysely)

  it('are planned once for a connection', async () => {
    await storage.kysely.transaction().execute(async tx => {
      for (let n = 0; n < 3; n++) expect((await heads(tx, {})).rows).toHaveLength(1)
      expect((await named.execute(tx)).rows).toHaveLength(1)
    })
  })

  it('run without their names when the server has forgotten them, as behind a pooler', async () => {
    await heads(storage.kysely, {})
    await forget()
    expect((await heads(storage.kysely, {})).rows).toHaveLength(1)
    expect((await named.execute(storage.kysely)).rows).toEqual([])
  })

  it('cost a transaction no more than another attempt', async () => {
    const sqlDatabase = createSqlDatabase(
      storage,
      db => db,
      async () => {},
    )
    await note(storage.kysely, { name: 'first', value: '' })
    await forget()
    await sqlDatabase.transaction(async tx => {
      await note(tx, { name: 'second', value: '' })
      await note(tx, { name: 'third', value: '' })
    })
    const found = await storage.kysely.selectFrom('instance').select('name').where('value', '=', '').execute()
    expect(found.map(row => row.name).toSorted()).toEqual(['first', 'second', 'third'])
  })

  it('go on when a table has changed since they were planned, in a reading too', async () => {
    const sqlDatabase = createSqlDatabase(
      storage,
      db => db,
      async () => {},
    )
    const read = () => sqlDatabase.read(async tx => (await heads(tx, {})).rows)
    const [before] = await read()
    await sql`alter table change_head add column more integer default 1`.execute(storage.kysely)
    expect(await read()).toEqual([{ ...before, more: 1 }])
    expect((await heads(storage.kysely, {})).rows).toEqual([{ ...before, more: 1 }])
  })
})
