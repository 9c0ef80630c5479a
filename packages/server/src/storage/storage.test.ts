import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { instantOf } from '../instant.ts'
import { sqlStores } from '../stores.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../testing/databases.ts'
import { createChangeFeed } from './changes/change-feed.ts'
import { sqlChangeLog } from './changes/change-log.sql.ts'
import { migrations } from './migrations/all-migrations.ts'
import { migrate, NewerDatabaseError, schemaVersion } from './migrations/migrate.ts'
import { openStorage, type Storage } from './open-storage.ts'
import { createSqlDatabase } from './sql-database.ts'

onEachDatabase('storage', dialect => {
  const open: Storage[] = []
  const databases: TestDatabase[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map(storage => storage.close()))
    await Promise.all(databases.splice(0).map(database => database.drop()))
  })
  async function freshUrl(kind: 'empty' | 'migrated'): Promise<string> {
    const database = await createTestDatabase(dialect, kind)
    databases.push(database)
    return database.url
  }
  function connect(url: string): Storage {
    const storage = openStorage(url)
    open.push(storage)
    return storage
  }

  describe('migrations', () => {
    it('run once when two nodes start at the same time', async () => {
      const url = await freshUrl('empty')
      const nodes = [connect(url), connect(url)]
      const applied = await Promise.all(nodes.map(node => migrate(node.kysely, node.dialect)))
      expect(applied.flat().sort()).toEqual(migrations.map(step => step.name).sort())
      expect(await schemaVersion(nodes[0]!.kysely)).toBe(migrations.at(-1)?.version)
    })

    it('keep the steps before one that fails, leave nothing of that one behind, and continue with it', async () => {
      const node = connect(await freshUrl('empty'))
      const broken = {
        version: 9999,
        name: 'broken',
        up: async (builder: { run(statement: string): Promise<void> }) => {
          await builder.run('create table half_made (a integer)')
          throw new Error('broken')
        },
      }
      await expect(migrate(node.kysely, node.dialect, { steps: [...migrations, broken] })).rejects.toThrow('broken')
      expect(await schemaVersion(node.kysely)).toBe(migrations.at(-1)?.version)
      await expect(sql`select * from half_made`.execute(node.kysely)).rejects.toThrow()
      const fixed = { ...broken, up: async () => {} }
      expect(await migrate(node.kysely, node.dialect, { steps: [...migrations, fixed] })).toEqual(['broken'])
    })

    it('refuse a database that is newer than the program', async () => {
      const node = connect(await freshUrl('migrated'))
      await migrate(node.kysely, node.dialect)
      await node.kysely
        .insertInto('schema_migrations')
        .values({ version: 9999, name: 'future', applied_at: instantOf(new Date()) })
        .execute()
      await expect(migrate(node.kysely, node.dialect)).rejects.toThrow(NewerDatabaseError)
    })

    it('are numbered in ascending order', () => {
      const versions = migrations.map(step => step.version)
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    })
  })

  describe('the change log', () => {
    const change = (entityId: string) => ({
      topic: 'flag' as const,
      organizationId: null,
      projectId: 1,
      entityId,
      at: instantOf(new Date()),
    })

    it('numbers changes in the order of commits, without a gap that a reader could step over', async () => {
      const url = await freshUrl('migrated')
      const writers = [connect(url), connect(url)]
      await migrate(writers[0]!.kysely, dialect)
      const reader = connect(url)
      const feed = createChangeFeed(sqlChangeLog(reader.kysely), { position: 0, last: undefined }, error => {
        throw error
      })
      const seen: string[] = []
      feed.subscribe(changes => {
        seen.push(...changes.map(({ entityId }) => entityId))
      }, expect.unreachable)
      const sets = writers.map(writer => createSqlDatabase(writer, sqlStores, () => feed.catchUp()))
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => sets[n % 2]!.transaction(tx => tx.changes.append(change(String(n))))),
      )
      await feed.catchUp()
      expect(seen).toHaveLength(40)
      expect(new Set(seen).size).toBe(40)
    })

    it('publishes nothing of a transaction that was rolled back', async () => {
      const storage = connect(await freshUrl('migrated'))
      await migrate(storage.kysely, dialect)
      const database = createSqlDatabase(storage, sqlStores, async () => {})
      const failing = database.transaction(async tx => {
        await tx.changes.append(change('lost'))
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      const log = sqlChangeLog(storage.kysely)
      expect([await log.head(), await log.listAfter(0, 10)]).toEqual([0, []])
    })

    it('is tried again, then refused, when what it refers to was deleted meanwhile', async () => {
      const storage = connect(await freshUrl('migrated'))
      await migrate(storage.kysely, dialect)
      const database = createSqlDatabase(
        storage,
        db => db,
        async () => {},
      )
      let attempts = 0
      const failing = database.transaction(db => {
        attempts++
        return db.insertInto('favorite_flags').values({ project_id: 404, user_id: 404, flag_id: 404 }).execute()
      })
      await expect(failing).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('deleted') })
      expect(attempts).toBe(4)
    })

    it('succeeds and is counted when this node cannot read its committed changes at once', async () => {
      const storage = connect(await freshUrl('migrated'))
      await migrate(storage.kysely, dialect)
      const database = createSqlDatabase(storage, sqlStores, () => Promise.reject(new Error('away')))
      await database.transaction(tx => tx.changes.append(change('kept')))
      expect(storage.health.delayedChanges).toBe(1)
      expect(await sqlChangeLog(storage.kysely).head()).toBe(1)
    })
  })
})

describe('SQLite', () => {
  it('is opened with durable settings', async () => {
    const database = await createTestDatabase('sqlite')
    const storage = openStorage(database.url)
    const pragma = async (name: string) => {
      const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(storage.kysely)
      return Object.values(rows[0] ?? {})[0]
    }
    expect(await pragma('journal_mode')).toBe('wal')
    expect(await pragma('synchronous')).toBe(2)
    expect(await pragma('foreign_keys')).toBe(1)
    expect(await pragma('busy_timeout')).toBe(5)
    await storage.close()
    await database.drop()
  })
})
