import { Kysely } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/databases.ts'
import { openSqlite, type SqliteHandle } from './sqlite-connection.ts'
import { sqliteDialect, sqliteWriterDialect } from './sqlite-driver.ts'

interface Notes {
  notes: { text: string }
}

describe('writers that meet', () => {
  let database: TestDatabase
  let handle: SqliteHandle
  let writer: Kysely<Notes>
  let reader: Kysely<Notes>
  let commits: number

  beforeEach(async () => {
    database = await createTestDatabase('sqlite')
    const path = database.url.slice('sqlite:'.length)
    handle = openSqlite(path)
    handle.exec('create table notes (text text primary key) strict')
    commits = 0
    writer = new Kysely({ dialect: sqliteWriterDialect(counting(handle)) })
    reader = new Kysely({ dialect: sqliteDialect(openSqlite(path, { readOnly: true })) })
  })

  afterEach(async () => {
    vi.restoreAllMocks()
    await reader.destroy()
    await writer.destroy()
    await database.drop()
  })

  const counting = (real: SqliteHandle): SqliteHandle => ({
    exec: sql => real.exec(sql),
    close: () => real.close(),
    prepare(sql) {
      const statement = real.prepare(sql)
      if (sql !== 'commit') return statement
      return {
        all: (...parameters) => statement.all(...parameters),
        run: (...parameters) => {
          commits += 1
          return statement.run(...parameters)
        },
      }
    },
  })

  const write = (...texts: string[]) =>
    writer.transaction().execute(async tx => {
      for (const text of texts) await tx.insertInto('notes').values({ text }).execute()
    })
  const texts = async (db: Kysely<Notes>) =>
    (await db.selectFrom('notes').select('text').orderBy('text').execute()).map(({ text }) => text)

  it('share one commit, and resolve when it is on disk', async () => {
    // The wait for others is short; here no time passes.
    vi.spyOn(performance, 'now').mockReturnValue(0)
    const seen: string[][] = []
    const all = ['a', 'b', 'c', 'd'].map(async text => {
      await write(text)
      seen.push(await texts(reader))
    })
    await Promise.all(all)
    expect(commits).toBe(1)
    expect(seen).toEqual(Array(4).fill(['a', 'b', 'c', 'd']))
    await write('e')
    expect(commits).toBe(2)
  })

  it('fail alone: neither those before nor those after are harmed', async () => {
    const results = await Promise.allSettled([write('a'), write('b', 'a'), write('c'), write('d', 'd'), write('e')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await texts(reader)).toEqual(['a', 'c', 'e'])
  })

  it('are not visible before they are on disk', async () => {
    let during: string[] | undefined
    await Promise.all([
      write('a'),
      writer.transaction().execute(async tx => {
        await tx.insertInto('notes').values({ text: 'b' }).execute()
        during = await texts(reader)
      }),
    ])
    expect(during).toEqual([])
    expect(await texts(reader)).toEqual(['a', 'b'])
  })

  it('wait for one that takes its time', async () => {
    let goOn = () => {}
    const slow = writer.transaction().execute(async tx => {
      await tx.insertInto('notes').values({ text: 'slow' }).execute()
      await new Promise<void>(resolve => {
        goOn = resolve
      })
    })
    const quick = write('quick')
    await new Promise(resolve => setImmediate(resolve))
    expect(await texts(reader)).toEqual([])
    goOn()
    await Promise.all([slow, quick])
    expect(await texts(reader)).toEqual(['quick', 'slow'])
  })

  it('are not delayed by a continuous sequence of others', async () => {
    let isDone = false
    const others: Promise<unknown>[] = []
    const first = write('first').then(() => {
      isDone = true
    })
    const follow = (n: number): Promise<unknown> =>
      writer.transaction().execute(async tx => {
        if (!isDone) others.push(follow(n + 1))
        await new Promise(resolve => setImmediate(resolve))
        await tx
          .insertInto('notes')
          .values({ text: `follower ${n}` })
          .execute()
      })
    others.push(follow(1))
    await first
    for (const other of others) await other
    expect(await texts(reader)).toContain('first')
  })

  it('all fail when the disk is full, and the next ones succeed', async () => {
    const [{ page_count: pages }] = handle.prepare('pragma page_count').all() as [{ page_count: number }]
    handle.exec(`pragma max_page_count = ${pages}`)
    const results = await Promise.allSettled([write('a'), write('b', 'x'.repeat(100_000)), write('c')])
    const stored = await texts(reader)
    // What was acknowledged can be read, and nothing else.
    const acknowledged = ['a', 'b', 'c'].filter((_, index) => results[index]!.status === 'fulfilled')
    expect(stored).toEqual(acknowledged)
    expect(results[1]!.status).toBe('rejected')
    handle.exec('pragma max_page_count = 1000000')
    await write('d')
    expect(await texts(reader)).toContain('d')
  })

  it('do not mix with a transaction that has the connection for itself', async () => {
    const before = write('a')
    const large = writer
      .transaction()
      .setAccessMode('read write')
      .execute(async tx => {
        expect(await texts(reader)).toEqual(['a'])
        await tx.insertInto('notes').values({ text: 'large' }).execute()
        throw new Error('Changed my mind')
      })
    const after = write('b')
    await expect(large).rejects.toThrow('Changed my mind')
    await Promise.all([before, after])
    expect(await texts(reader)).toEqual(['a', 'b'])
    expect(commits).toBe(2)
  })

  it('do not mix with a statement outside a transaction', async () => {
    const [, count] = await Promise.all([
      write('a'),
      writer
        .selectFrom('notes')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow(),
    ])
    expect(count.n).toBe(1)
    expect(commits).toBe(1)
    const aside = writer.transaction().setAccessMode('read only').execute(texts)
    expect(await aside).toEqual(['a'])
  })
})
