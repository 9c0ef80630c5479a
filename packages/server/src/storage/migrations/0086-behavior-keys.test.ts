import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../testing/databases.ts'
import { openStorage } from '../open-storage.ts'
import { migrations } from './all-migrations.ts'
import { migrate } from './migrate.ts'

onEachDatabase('the migration of behavior keys', dialect => {
  it('keeps every count, one for each person, event and day', async () => {
    const { url, drop } = await createTestDatabase(dialect, 'empty')
    const storage = openStorage(url)
    const db = storage.kysely
    await migrate(db, dialect, { steps: migrations.filter(({ version }) => version < 86) })
    const at = '2026-01-01T00:00:00.000000Z'
    const times = { created_at: at, updated_at: at }
    const organization = { id: 'o', name: 'o', slug: 'o', plugins_access_level: 9, ...times }
    await db.insertInto('organizations').values(organization).execute()
    const project = { id: 1, uuid: 'p', organization_id: 'o', name: 'p', api_token: 't', timezone: 'UTC', ...times }
    await db
      .insertInto('projects')
      .values({ ...project, property_matching_version: 2 })
      .execute()
    const person = { project_id: 1, properties: '{}', is_identified: 0, distinct_id_count: 1, version: 1 }
    for (const id of [1, 2]) {
      await db
        .insertInto('persons')
        .values({ ...person, id, uuid: String(id), email: null, created_at: at })
        .execute()
    }
    const event = { id: 7, project_id: 1, name: 'paid', counted_since: at, ended_at: null }
    await db.insertInto('counted_events').values(event).execute()
    const days = [2, 1].flatMap(person_id =>
      [20_001, 20_000].map(day => ({ person_id, event_id: 7, day, count: person_id + day, is_kept: 20_001 - day })),
    )
    await db.insertInto('person_event_days').values(days).execute()

    expect(await migrate(db, dialect, { steps: migrations.filter(({ version }) => version <= 86) })).toEqual([
      'behavior-keys',
    ])
    const rows = await db.selectFrom('person_event_days').selectAll().orderBy('person_id').orderBy('day').execute()
    expect(rows).toEqual(days.toReversed())
    await expect(db.insertInto('person_event_days').values(days[0]!).execute()).rejects.toThrow()
    await db
      .insertInto('person_event_days')
      .values({ ...days[0]!, person_id: 99, event_id: 99 })
      .execute()
    await storage.close()
    await drop()
  })
})
