import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../packages/server/src/config.ts'
import { createHalyard } from '../packages/server/src/main.ts'
import { migrations } from '../packages/server/src/storage/migrations/all-migrations.ts'
import { migrate } from '../packages/server/src/storage/migrations/migrate.ts'
import { openStorage, type Storage } from '../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, onEachDatabase } from '../packages/server/src/testing/databases.ts'
import { findFaults } from './faults/consistency.ts'

/**
 * During a rolling upgrade, nodes of the previous version run on the new schema. That works when a migration only adds: every table and
 * column stays, and new columns of existing tables have a default or are nullable.
 */
interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
}

async function schemaAfter(count: number): Promise<Map<string, Column[]>> {
  const storage = openStorage('sqlite::memory:')
  await migrate(storage.kysely, 'sqlite', { steps: migrations.slice(0, count) })
  const query = <T>(statement: string) => storage.sqlite!.handle.prepare(statement).all() as T[]
  const tables = query<{ name: string }>(
    `select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  )
  const schema = new Map(tables.map(({ name }) => [name, query<Column>(`pragma table_info("${name}")`)]))
  await storage.close()
  return schema
}

it('every migration is compatible with the previous version', async () => {
  let before = await schemaAfter(1)
  for (let count = 1; count < migrations.length; count++) {
    const after = await schemaAfter(count + 1)
    const step = migrations[count]!.name
    for (const [table, columns] of before) {
      const now = after.get(table)
      expect(now, `${step} removes the table ${table}`).toBeDefined()
      for (const column of columns) {
        const current = now!.find(({ name }) => name === column.name)
        expect(current?.type, `${step} removes or changes ${table}.${column.name}`).toBe(column.type)
        if (!column.notnull) expect(current?.notnull, `${step} requires ${table}.${column.name}`).toBe(0)
      }
      for (const added of now!.filter(({ name }) => !columns.some(column => column.name === name))) {
        const isOptional = added.notnull === 0 || added.dflt_value !== null
        expect(isOptional, `${step} adds ${table}.${added.name}, which older versions do not set`).toBe(true)
      }
    }
    before = after
  }
})

it('migrations are numbered consecutively', () => {
  const versions = migrations.map(step => step.version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
})

const at = '2024-01-02T03:04:05.678Z'
const organization = '11111111-1111-4111-8111-111111111111'
const keyHash = 'ab'.repeat(32)

/** Rows as the first version wrote them, with the columns of that version. */
const firstRows = [
  `insert into users (uuid, distinct_id, first_name, email, is_email_verified, is_active, current_organization_id, current_project_id, date_joined) values ('22222222-2222-4222-8222-222222222222', 'd', 'Ada', 'ada@example.com', 1, 1, '${organization}', 1, '${at}')`,
  `insert into organizations values ('${organization}', 'Old', 'old', 9, '${at}', '${at}')`,
  `insert into memberships values ('33333333-3333-4333-8333-333333333333', '${organization}', 1, 15, '${at}', '${at}')`,
  `insert into projects (uuid, organization_id, name, api_token, timezone, property_matching_version, created_at, updated_at) values ('44444444-4444-4444-8444-444444444444', '${organization}', 'Old project', 'phc_oldoldoldoldold', 'UTC', 2, '${at}', '${at}')`,
  `insert into api_keys (id, user_id, label, hash, mask, scopes, scoped_teams, scoped_organizations, is_session, created_at) values ('k', 1, 'old', '${keyHash}', 'phx_…', '["*"]', '[]', '[]', 0, '${at}')`,
]
const flagRows = (id: number, key: string) => [
  `insert into dashboards (project_id, name, description, pinned, deleted, flag_id, is_enriched, created_by_id, created_at) values (1, 'usage ${key}', '', 0, 0, ${id}, 0, 1, '${at}')`,
  `insert into flags (project_id, key, name, filters, is_multivariant, deleted, active, created_by_id, created_at, ensure_experience_continuity, rollback_conditions, performed_rollback, tags, usage_dashboard_id, analytics_dashboards, has_enriched_analytics, evaluation_contexts, version, updated_at) values (1, '${key}', '', '{"groups":[{"properties":[],"rollout_percentage":null}]}', 0, 0, 1, 1, '${at}', 0, '{}', 0, '[]', ${id}, '[]', 0, '[]', 1, '${at}')`,
  `update change_head set sequence = sequence + 1 where id = 1`,
  `insert into changes select sequence, 'flag', '${organization}', 1, '${id}', '${at}' from change_head`,
]

async function run(storage: Storage, statements: readonly string[]): Promise<void> {
  await storage.kysely.transaction().execute(async tx => {
    for (const statement of statements) await sql.raw(statement).execute(tx)
  })
}

onEachDatabase('an upgrade from the first schema', dialect => {
  it('preserves data, and accepts writes of a node of the old version', async () => {
    const database = await createTestDatabase(dialect, 'empty')
    const old = openStorage(database.url)
    await migrate(old.kysely, dialect, { steps: migrations.slice(0, 1) })
    await run(old, [...firstRows, ...flagRows(1, 'from-before')])

    const key = 'phx_oldoldoldoldoldoldoldoldold'
    await run(old, [`update api_keys set hash = '${createHash('sha256').update(key).digest('hex')}'`])
    const upgraded = await startUpgraded(database.url, key)
    try {
      expect((await upgraded.get('/api/projects/1/feature_flags/')).results.map(flag => flag.key)).toEqual([
        'from-before',
      ])
      // A node that has not been upgraded yet continues with its own statements.
      await run(old, flagRows(2, 'written-by-the-old-node'))
      const seen = await upgraded.get('/api/projects/1/feature_flags/2/')
      expect(seen.key).toBe('written-by-the-old-node')
    } finally {
      await upgraded.close()
      await old.close()
    }
    expect((await findFaults(database.url, [])).filter(fault => /change log/.test(fault))).toEqual([])
    await database.drop()
  })
})

/** `startScenario` creates its own owner; this database has another one. */
async function startUpgraded(databaseUrl: string, key: string) {
  const config = readConfig({ DATABASE_URL: databaseUrl, PORT: '0', LOG_LEVEL: 'silent' })
  const halyard = await createHalyard(config, pino({ level: 'silent' }))
  const url = await halyard.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    async get(path: string): Promise<{ key: string; results: { key: string }[] }> {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
      expect(response.status, path).toBe(200)
      return (await response.json()) as { key: string; results: { key: string }[] }
    },
    close: () => halyard.close(),
  }
}
