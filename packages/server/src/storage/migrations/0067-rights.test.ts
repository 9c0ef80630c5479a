import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../testing/databases.ts'
import { openStorage } from '../open-storage.ts'
import { rights } from './0067-rights.ts'
import { migrate } from './migrate.ts'
import { type SchemaBuilder, schemaBuilder } from './migration.ts'

const at = '2026-01-01T00:00:00.000000Z'

/** Undoes what the migration added, so that it is applied to data as an older version left it. */
const undo = [
  'drop table account_ties',
  'alter table users drop column is_service',
  'alter table identity_providers drop column saved_by_id',
  'alter table approval_policies drop column allow_keys',
]

onEachDatabase('the migration to rights', dialect => {
  it('lets keys that write flags go on managing policies and freezes, and none decide about changes', async () => {
    const { url, drop } = await createTestDatabase(dialect)
    const storage = openStorage(url)
    const db = storage.kysely
    await migrate(db, dialect)
    for (const statement of undo) await sql.raw(statement).execute(db)
    const user = {
      uuid: 'u',
      distinct_id: 'd',
      first_name: 'Ada',
      email: 'ada@example.com',
      password_hash: null,
      is_email_verified: 1,
      is_active: 1,
      is_staff: 0,
      current_organization_id: null,
      current_project_id: null,
      date_joined: at,
    }
    const { id: userId } = await db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
    const before = {
      all: ['*'],
      reads: ['feature_flag:read'],
      writes: ['cohort:read', 'feature_flag:write'],
      none: ['project:write'],
    }
    for (const [id, scopes] of Object.entries(before)) {
      const key = {
        id,
        user_id: userId,
        label: id,
        hash: id,
        mask: id,
        scopes: JSON.stringify(scopes),
        scoped_teams: '[]',
        scoped_organizations: '[]',
        is_session: 0,
        created_at: at,
        last_used_at: null,
        expires_at: null,
      }
      await db.insertInto('api_keys').values(key).execute()
    }
    await rights.up(schemaBuilder(db as unknown as SchemaBuilder['db'], dialect))
    const rows = await db.selectFrom('api_keys').select(['id', 'scopes']).execute()
    expect(Object.fromEntries(rows.map(({ id, scopes }) => [id, JSON.parse(scopes)]))).toEqual({
      ...before,
      writes: ['cohort:read', 'feature_flag:write', 'approval_policy:write', 'freeze:write'],
    })
    const [account] = await db.selectFrom('users').select('is_service').execute()
    expect(account?.is_service).toBe(0)
    await storage.close()
    await drop()
  })
})
