import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { migrations } from '../../packages/server/src/storage/migrations/all-migrations.ts'
import { migrate } from '../../packages/server/src/storage/migrations/migrate.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'

const at = '2024-01-02T03:04:05.678Z'
const later = '2024-02-02T03:04:05.678Z'

/** Rows as the program before the step wrote them. */
const rowsBefore = [
  ...['first', 'second', 'member'].map(
    name =>
      `insert into users (uuid, distinct_id, first_name, email, is_email_verified, is_active, date_joined) values ('${name}', '${name}', '${name}', '${name}@example.com', 1, 1, '${at}')`,
  ),
  // The second organization has the smaller id: age decides, not the id.
  `insert into organizations values ('b', 'First', 'first', 9, '${at}', '${at}')`,
  `insert into organizations values ('a', 'Second', 'second', 9, '${later}', '${later}')`,
  `insert into organizations values ('c', 'Third', 'third', 3, '${later}', '${later}')`,
  `insert into memberships values ('m1', 'b', 1, 15, '${at}', '${at}')`,
  `insert into memberships values ('m2', 'a', 2, 15, '${at}', '${at}')`,
  `insert into memberships values ('m3', 'b', 3, 8, '${at}', '${at}')`,
  `insert into invites values ('listed-id', 'b', 'x@example.com', 'X', 8, 1, '${at}', '2999-01-01T00:00:00Z')`,
]

onEachDatabase('a database from before invitation tokens', dialect => {
  it('loses its open invitations, gets one instance administrator, and one organization that publishes plugins', async () => {
    const database = await createTestDatabase(dialect, 'empty')
    const storage = openStorage(database.url)
    const step = migrations.findIndex(({ name }) => name === 'access')
    await migrate(storage.kysely, dialect, { steps: migrations.slice(0, step) })
    for (const statement of rowsBefore) await sql.raw(statement).execute(storage.kysely)
    await migrate(storage.kysely, dialect)
    expect(await storage.kysely.selectFrom('invites').selectAll().execute()).toEqual([])
    const users = await storage.kysely.selectFrom('users').select(['email', 'is_staff']).orderBy('id').execute()
    expect(users).toEqual([
      { email: 'first@example.com', is_staff: 1 },
      { email: 'second@example.com', is_staff: 0 },
      { email: 'member@example.com', is_staff: 0 },
    ])
    const organizations = await storage.kysely
      .selectFrom('organizations')
      .select(['slug', 'plugins_access_level', 'default_access_level'])
      .orderBy('slug')
      .execute()
    expect(organizations).toEqual([
      { slug: 'first', plugins_access_level: 9, default_access_level: 37 },
      { slug: 'second', plugins_access_level: 6, default_access_level: 37 },
      { slug: 'third', plugins_access_level: 3, default_access_level: 37 },
    ])
    await storage.close()
    await database.drop()
  }, 60_000)
})
