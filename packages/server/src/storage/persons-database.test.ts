import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createIngest } from '../features/events/ingest/ingest.ts'
import { newUuid } from '../features/identity/secret.ts'
import { createPersonLedger } from '../features/persons/person-ledger.ts'
import { removeProjectRemains } from '../features/persons/retention/remove-project-remains.ts'
import { trimPersons } from '../features/persons/retention/trim-persons.ts'
import { instantOf } from '../instant.ts'
import type { JobContext } from '../jobs/job-runner.ts'
import { createTestDatabase, dialects, type TestDatabase } from '../testing/databases.ts'
import { createFaultInjector } from '../testing/failing-statement.ts'
import { removable } from '../testing/removable-database.ts'
import { type Reply, type Scenario, startScenario } from '../testing/scenario.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'
import { migrate } from './migrations/migrate.ts'
import { openStorage, type Storage } from './open-storage.ts'
import { personsMigrations } from './persons-migrations/persons-migrations.ts'
import { openPersonsStorage } from './persons-storage.ts'
import { copyPersons, finishMove, removeCopies } from './transfer/migrate-persons.ts'

/** What is new where persons have a database of their own; the suites of persons, cohorts and events run on it as well. */

const ofPersons = dialects.at(-1)!
const pro = { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] }
const lastMonth = { value: 'performed_event', time_value: 30, time_interval: 'day' }
const everyone = { groups: [{ rollout_percentage: 100 }] }

describe('a batch of events', () => {
  const injectors = { main: createFaultInjector(), persons: createFaultInjector() }
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario('sqlite', {
      persons: ofPersons,
      storage: injectors.main,
      personsStorage: injectors.persons,
    })
  })
  afterAll(() => s.close())

  it.each(['main', 'persons'] as const)('counts once, whichever statement on the %s database fails', async store => {
    const values = [
      {
        ...{ type: 'behavioral', event_type: 'events', key: `paid-${store}`, value: 'performed_event' },
        ...{ time_value: 30, time_interval: 'day' },
      },
    ]
    await s.post(`${s.project}/cohorts/`, { name: store, filters: { properties: { type: 'AND', values } } })
    const { database, serving } = s.halyard
    const ingest = createIngest({
      database,
      findProject: serving.snapshots.forToken,
      pipeline: { handles: () => false, transform: async (_, event) => event, keep: async () => () => {} },
      observer: { received() {}, dropped() {}, committed() {} },
      now: () => instantOf(new Date()),
    })
    const served = (await serving.snapshots.forProject(s.projectId))!
    const name = `paid-${store}`
    const event = { name, distinctId: store, properties: {}, ip: null, at: instantOf(new Date()) }
    let batches = 0
    for (let isReached = true; isReached; ) {
      batches += 1
      const batch = { id: `${store}-${batches}`, served, events: [{ ...event, uuid: `${batches}` }] }
      injectors[store].failAt(batches)
      await ingest.receiveBatches([batch]).catch(() => {})
      isReached = injectors[store].disarm()
      await ingest.receiveBatches([batch])
    }
    expect(batches).toBeGreaterThan(5)
    const counted = await database.query(tx => tx.countedEvents.listLive(s.projectId))
    const days = await s.halyard
      .personsStorage!.kysely.selectFrom('person_event_days')
      .select(({ fn }) => fn.sum<number>('count').as('count'))
      .where('event_id', '=', counted.get(name)!.id)
      .executeTakeFirstOrThrow()
    const counts = await s.halyard.storage.kysely
      .selectFrom('event_counts')
      .select(({ fn }) => fn.sum<number>('count').as('count'))
      .where('event', '=', name)
      .executeTakeFirstOrThrow()
    expect([Number(days.count), Number(counts.count)]).toEqual([batches, batches])
  })

  it('leaves no person in the main database', async () => {
    expect(await s.halyard.storage.kysely.selectFrom('persons').select('id').execute()).toEqual([])
    expect(await s.halyard.personsStorage!.kysely.selectFrom('persons').select('id').execute()).toHaveLength(2)
  })
})

describe('two files', () => {
  const suite = suiteScenario('sqlite', { persons: 'sqlite' })

  it('take changes of persons and of what the main database has of them at once', async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `person-${n}`)
    const seen = (distinct_id: string) => ({ event: 'seen', distinct_id, properties: { $set: { plan: 'pro' } } })
    const capture = (batch: readonly object[]) => suite.post('/batch/', { api_key: suite.projectToken, batch })
    expect((await capture(ids.map(seen))).status).toBe(200)
    const responses = await Promise.all(
      ids.flatMap((id, n) => [
        suite.post(`${suite.project}/cohorts/`, { name: `Of ${id}`, is_static: true, distinct_ids: [id] }),
        capture([seen(`new-${n}`)]),
      ]),
    )
    expect(responses.map(({ status }) => status)).toEqual(ids.flatMap(() => [201, 200]))
    for (const { body } of responses.filter(({ status }) => status === 201)) expect(body.count).toBe(1)
  })
})

describe('an outage', () => {
  const databases = { main: removable(), persons: removable() }
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario('sqlite', {
      persons: ofPersons,
      storage: databases.main,
      personsStorage: databases.persons,
    })
    await s.post(`${s.project}/feature_flags/`, { key: 'pro', filters: pro })
    await s.post(`${s.project}/feature_flags/`, { key: 'all', filters: everyone })
    for (const id of ['ada', 'ben', 'cleo']) await send(id)
    expect(await evaluate('cleo')).toEqual([true, true, false])
  })
  afterAll(async () => {
    for (const database of Object.values(databases)) database.setAway(false)
    await s.close()
  })

  const send = (distinct_id: string) =>
    s.post('/batch/', { api_key: s.projectToken, batch: [{ event: '$set', distinct_id, $set: { plan: 'pro' } }] })
  const evaluate = async (distinct_id: string) => {
    const { body } = await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id })
    return [body.flags.all?.enabled, body.flags.pro?.enabled, body.errorsWhileComputingFlags]
  }
  const failures = (database: string) =>
    `halyard_database_write_failures_total{database="${database}",kind="unavailable"}`
  /** NaN while the series does not exist. */
  const metric = async (series: string): Promise<number> => {
    const line = (await s.get('/metrics')).text.split('\n').find(text => text.startsWith(`${series} `))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }
  const ready = async () => {
    const { status, body } = await s.get('/_readyz')
    return [status, body.database, body.persons_database]
  }

  it('of the main database leaves lookups of persons as they are', async () => {
    databases.main.setAway(true)
    // Not in the cache: it is looked up.
    expect(await evaluate('ada')).toEqual([true, true, false])
    expect((await send('ada')).status).toBe(503)
    expect(await ready()).toEqual([503, 'away', 'ok'])
    // Read again and again meanwhile.
    await expect.poll(() => metric('halyard_person_cache_age_seconds')).toBeLessThan(1)
    expect(await metric(failures('main'))).toBeGreaterThan(0)
    expect(await metric(failures('persons'))).toBe(0)
    databases.main.setAway(false)
    expect((await send('ada')).status).toBe(200)
  })

  it('of the database of persons leaves everything that needs none, and names it', async () => {
    databases.persons.setAway(true)
    expect(await evaluate('ben')).toEqual([true, false, true])
    // From the cache.
    expect(await evaluate('cleo')).toEqual([true, true, false])
    expect((await send('dora')).status).toBe(503)
    const list = await s.get(`${s.project}/persons/`)
    expect([list.status, list.body.detail]).toEqual([503, expect.stringContaining('persons database')])
    const flag = await s.post(`${s.project}/feature_flags/`, { key: 'written meanwhile' })
    expect(flag.status).toBe(201)
    expect(await ready()).toEqual([200, 'ok', 'away'])
    expect(await metric(failures('persons'))).toBeGreaterThan(0)
    await expect.poll(() => metric('halyard_person_cache_age_seconds')).toBeGreaterThan(1)
    databases.persons.setAway(false)
    expect((await send('dora')).status).toBe(200)
    // Lookups pause for a moment after a failure.
    await expect.poll(() => evaluate('dora')).toEqual([true, true, false])
  })
})

describe('several nodes', () => {
  let nodes: readonly Scenario[]
  beforeAll(async () => {
    const first = await startScenario(ofPersons, { persons: ofPersons })
    const { databaseUrl, personsUrl } = first
    nodes = [first, await startScenario(ofPersons, { databaseUrl, personsUrl })]
  })
  afterAll(async () => {
    for (const node of nodes.toReversed()) await node.close()
  })

  it('see each other change a person', async () => {
    const [one, other] = nodes as [Scenario, Scenario]
    await one.post(`${one.project}/feature_flags/`, { key: 'pro', filters: pro })
    const set = (plan: string) => {
      const batch = [{ event: '$set', distinct_id: 'ada', $set: { plan } }]
      return one.post('/batch/', { api_key: one.projectToken, batch })
    }
    const seen = async () => {
      const asked = { token: one.projectToken, distinct_id: 'ada' }
      return (await other.as(undefined).post('/flags/?v=2', asked)).body.flags.pro?.enabled
    }
    await set('pro')
    await expect.poll(seen).toBe(true)
    await set('free')
    await expect.poll(seen).toBe(false)
  })
})

describe.runIf(ofPersons === 'postgres')('a large transaction', () => {
  it('survives that one of the databases waits for the other for long', async () => {
    const s = await startScenario('postgres', { persons: 'postgres' })
    const changed = await s.halyard.database.transaction(
      async tx => {
        // PostgreSQL ends other transactions that are idle for five seconds.
        await wait(6000)
        const ref = { typeIndex: 0, key: 'acme' }
        const update = { set: { size: 1 }, setOnce: {}, unset: [] }
        await tx.people.groups.update(s.projectId, ref, update, instantOf(new Date()))
        return tx.projects.listExisting([s.projectId])
      },
      { isLarge: true, withPersons: true },
    )
    expect([...changed]).toEqual([s.projectId])
    await s.close()
  })
})

const findPerson = async ({ halyard, projectId }: Scenario, distinctId: string): Promise<number> => {
  const personIds = await halyard.database.people.query(tx => tx.cohortMembers.findPersons(projectId, [distinctId]))
  return personIds.get(distinctId)!
}

/** For a lock, of this database. */
const untilOneWaits = ({ kysely }: Storage) =>
  expect
    .poll(
      async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(kysely)
        return rows.length
      },
      { timeout: 20_000 },
    )
    .toBe(1)

describe.runIf(ofPersons === 'postgres')('retention', () => {
  it('keeps a person that another transaction makes a member at the same moment', async () => {
    const s = await startScenario('postgres', { persons: 'postgres', environment: { HALYARD_PERSON_DAYS: '30' } })
    const cohort = (await s.post(`${s.project}/cohorts/`, { name: 'Kept', is_static: true })).body
    const batch = ['ada', 'ben'].map(distinct_id => ({ event: '$set', distinct_id, $set: { plan: 'pro' } }))
    expect((await s.post('/batch/', { api_key: s.projectToken, batch })).status).toBe(200)
    const listed = async () => (await s.get(`${s.project}/persons/`)).body.results
    const personId = await findPerson(s, 'ada')
    const { read, transaction, people } = s.halyard.database
    const now = instantOf(new Date(Date.now() + 40 * 24 * 3_600_000))
    let trimmed: Promise<void> | undefined
    await people.transaction(async tx => {
      await tx.cohortMembers.add(s.projectId, cohort.id, [personId])
      trimmed = trimPersons(30).run({ now, read, transaction, people, isStopping: () => false })
      await untilOneWaits(s.halyard.personsStorage!)
    })
    await trimmed
    expect((await listed()).map(({ distinct_ids }: { distinct_ids: string[] }) => distinct_ids)).toEqual([['ada']])
    await s.close()
  })
})

/** No database sees that two transactions wait for each other in both: so all of them lock persons first. SQLite has one writer. */
describe.runIf(ofPersons === 'postgres')('while another transaction holds a person, a cohort is not locked', () => {
  const s = suiteScenario('postgres', { persons: 'postgres' })
  let personId: number
  beforeAll(async () => {
    const batch = [{ event: '$set', distinct_id: 'ada', $set: { plan: 'pro' } }]
    expect((await s.post('/batch/', { api_key: s.projectToken, batch })).status).toBe(200)
    personId = await findPerson(s, 'ada')
  })

  /** As a merge does before it corrects the number of members. */
  async function whileHeld(start: () => Promise<unknown>, cohortIds: () => Promise<readonly number[]>) {
    const { storage, personsStorage } = s.halyard
    await personsStorage!.kysely.transaction().execute(async tx => {
      await tx.selectFrom('persons').select('id').where('id', '=', personId).forUpdate().execute()
      const started = start()
      started.catch(() => {})
      await untilOneWaits(personsStorage!)
      await storage.kysely.transaction().execute(async main => {
        const ids = await cohortIds()
        expect(ids).not.toEqual([])
        await main.selectFrom('cohorts').select('id').where('id', 'in', ids).forUpdate().noWait().execute()
        await main
          .selectFrom('cohort_jobs')
          .select('cohort_id')
          .where('cohort_id', 'in', ids)
          .forUpdate()
          .noWait()
          .execute()
      })
    })
  }

  it('by a request that changes its name and its members', async () => {
    const cohort = (await s.post(`${s.project}/cohorts/`, { name: 'Old', is_static: true })).body
    let reply: Promise<Reply> | undefined
    await whileHeld(
      () => (reply = s.patch(`${s.project}/cohorts/${cohort.id}/`, { name: 'New', distinct_ids: ['ada'] })),
      async () => [cohort.id],
    )
    const { status, body } = await reply!
    expect([status, body.name, body.added, body.count]).toEqual([200, 'New', 1, 1])
  })

  it('by the job that fills it', async () => {
    const flag = await s.post(`${s.project}/feature_flags/`, { key: 'all', filters: everyone })
    const create = `${s.project}/feature_flags/${flag.body.id}/create_static_cohort_for_flag/`
    let id = 0
    await whileHeld(
      async () => {
        id = (await s.post(create, {})).body.cohort.id
        await s.halyard.jobs.runDue(instantOf(new Date()))
      },
      async () => [id],
    )
    await s.halyard.jobs.runDue(instantOf(new Date()))
    await expect.poll(async () => (await s.get(`${s.project}/cohorts/${id}/`)).body.count).toBe(1)
  })
})

describe.each(dialects)('deleted projects, with persons on %s', dialect => {
  const main = removable()
  let s: Scenario
  beforeAll(async () => {
    const environment = { HALYARD_PERSON_DAYS: '30' }
    s = await startScenario('sqlite', { persons: dialect, storage: main, environment })
    await fill(s.projectId, 10)
  })
  afterAll(() => s.close())

  const at = instantOf(new Date())
  const tables = [
    ...(['persons', 'person_distinct_ids', 'groups', 'hash_key_overrides'] as const),
    ...(['cohort_people', 'person_event_days', 'person_seen'] as const),
  ]
  const rows = async () => {
    const { kysely } = s.halyard.personsStorage!
    const counts = tables.map(async table => {
      const count = kysely.selectFrom(table).select(({ fn }) => fn.countAll().as('count'))
      return [table, Number((await count.executeTakeFirstOrThrow()).count)]
    })
    return Object.fromEntries(await Promise.all(counts))
  }
  /** Rows of every kind, past the routes: as of a node that has not seen the deletion. */
  const fill = (projectId: number, size: number) =>
    s.halyard.database.people.transaction(async tx => {
      const ledger = createPersonLedger(new Map(), newUuid)
      const names = Array.from({ length: size }, (_, n) => `person ${n}`)
      for (const name of names) ledger.see(name, at)
      await tx.persons.write(projectId, ledger.drafts())
      const personIds = [...(await tx.cohortMembers.findPersons(projectId, names)).values()]
      await tx.cohortMembers.add(projectId, projectId, personIds)
      await tx.eventDays.add(
        projectId,
        personIds.map(personId => ({ personId, eventId: projectId, day: 20_000, count: 1 })),
      )
      await tx.persons.addHashKeys(projectId, personIds[0]!, [{ flagKey: 'f', hashKey: 'h' }])
      await tx.personRetention.noteSeen(projectId, names, at)
      const update = { set: { size: 1 }, setOnce: {}, unset: [] }
      for (let n = 0; n < 3; n++) await tx.groups.update(projectId, { typeIndex: 0, key: `group ${n}` }, update, at)
    })
  const createProject = async (): Promise<number> => (await s.post('/api/projects/', { name: 'Short' })).body.id
  const context = (): JobContext => {
    const { read, transaction, people } = s.halyard.database
    return { now: at, read, transaction, people, isStopping: () => false }
  }

  it('leave nothing after the next runs, and other projects as they are', async () => {
    const before = await rows()
    expect(before).toMatchObject({ persons: 10, groups: 3, hash_key_overrides: 1, person_seen: 10 })
    const id = await createProject()
    await fill(id, 2500)
    expect((await s.delete(`/api/projects/${id}/`)).status).toBe(204)
    expect(await rows()).toMatchObject({ persons: 2510, cohort_people: 2510, groups: 6 })
    expect((await s.get(`/api/projects/${id}/persons/`)).status).toBe(404)
    await s.halyard.jobs.runDue(at)
    expect(await rows()).toEqual(before)
    // An event that another node records late.
    await fill(id, 5)
    await s.halyard.jobs.runDue(at)
    expect(await rows()).toEqual(before)
    expect(await createProject()).toBeGreaterThan(id)
  })

  it('are removed with their organization', async () => {
    const before = await rows()
    const { body: organization } = await s.post('/api/organizations/', { name: 'Short' })
    await fill(organization.teams[0].id, 20)
    expect((await s.delete(`/api/organizations/${organization.id}/`)).status).toBe(204)
    await s.halyard.jobs.runDue(at)
    expect(await rows()).toEqual(before)
  })

  it('are continued where a run was interrupted', async () => {
    const before = await rows()
    const id = await createProject()
    await fill(id, 2500)
    await s.delete(`/api/projects/${id}/`)
    const job = removeProjectRemains()
    let transactions = 0
    await job.run({ ...context(), isStopping: () => transactions++ === 1 })
    expect((await rows()).persons).toBe(1510)
    await job.run(context())
    expect(await rows()).toEqual(before)
  })

  it('are kept while the main database is away, which alone knows them', async () => {
    const id = await createProject()
    await fill(id, 20)
    await s.delete(`/api/projects/${id}/`)
    const before = await rows()
    const { people, ...rest } = context()
    const query: typeof people.query = async work => {
      const result = await people.query(work)
      main.setAway(true)
      return result
    }
    await expect(removeProjectRemains().run({ ...rest, people: { ...people, query } })).rejects.toThrow()
    main.setAway(false)
    expect(await rows()).toEqual(before)
    await removeProjectRemains().run(context())
    expect((await rows()).persons).toBe(10)
  })
})

describe('a start', () => {
  const made: TestDatabase[] = []
  const create = async (kind: 'migrated' | 'empty') => {
    const database = await createTestDatabase('sqlite', kind)
    made.push(database)
    return database.url
  }
  afterAll(async () => {
    for (const database of made) await database.drop()
  })
  const start = (databaseUrl: string, personsUrl?: string) => startScenario('sqlite', { databaseUrl, personsUrl })

  it('refuses to leave persons behind in the main database, until they are moved', async () => {
    const [url, personsUrl] = [await create('migrated'), await create('empty')]
    const s = await start(url)
    await s.post(`${s.project}/feature_flags/`, { key: 'pro', filters: pro })
    const set = (...ids: string[]) =>
      s.post('/batch/', {
        api_key: s.projectToken,
        batch: ids.map(distinct_id => ({ event: '$set', distinct_id, $set: { plan: 'pro' } })),
      })
    await set('ada', 'ben')
    const databases = [openStorage(url), openPersonsStorage(personsUrl)] as const
    // Beside the server, and interrupted: what was copied is not written again, what has changed is.
    expect(await copyPersons(...databases, () => {})).toMatchObject({ written: 4 })
    await set('cleo')
    const [ben] = (await s.get(`${s.project}/persons/?distinct_id=ben`)).body.results
    await s.delete(`${s.project}/persons/${ben.id}/`)
    await s.close()
    await expect(start(url, personsUrl)).rejects.toThrow('halyard migrate-persons')
    expect(await finishMove(...databases, () => {})).toMatchObject({ rows: 4 })
    await removeCopies(databases[0], () => {})
    expect(await databases[0].kysely.selectFrom('persons').select('id').execute()).toEqual([])
    for (const database of databases) await database.close()
    const moved = await start(url, personsUrl)
    const values = async (distinct_id: string) =>
      (await moved.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id })).body.flags.pro.enabled
    expect([await values('ada'), await values('ben'), await values('cleo')]).toEqual([true, false, true])
    // Numbers go on where they were.
    const batch = [{ event: '$set', distinct_id: 'dora', $set: { plan: 'pro' } }]
    expect((await moved.post('/batch/', { api_key: s.projectToken, batch })).status).toBe(200)
    expect(await values('dora')).toBe(true)
    await moved.close()
  })

  it('counts the rows that another copy changes', async () => {
    const [url, personsUrl] = [await create('migrated'), await create('empty')]
    const s = await start(url)
    const set = (batch: readonly object[]) => s.post('/batch/', { api_key: s.projectToken, batch })
    await set([...'abcdefgh'].map(distinct_id => ({ event: '$set', distinct_id, $set: { plan: 'free' } })))
    const databases = [openStorage(url), openPersonsStorage(personsUrl)] as const
    await copyPersons(...databases, () => {})
    expect(await copyPersons(...databases, () => {})).toMatchObject({ rows: 16, written: 0 })
    await set([{ event: '$set', distinct_id: 'c', $set: { plan: 'pro' } }])
    const [last] = (await s.get(`${s.project}/persons/?distinct_id=h`)).body.results
    await s.delete(`${s.project}/persons/${last.id}/`)
    // One is replaced; a person and the id of it are removed.
    expect(await copyPersons(...databases, () => {})).toMatchObject({ rows: 14, written: 3 })
    for (const database of databases) await database.close()
    await s.close()
  })

  it('takes a node out of service that was started without the setting, before another one with it', async () => {
    const [url, personsUrl] = [await create('migrated'), await create('empty')]
    const [first, second] = [await start(url), await start(url, personsUrl)]
    for (const path of ['/_readyz', '/_readyz?for=evaluation']) {
      const { status, body } = await first.get(path)
      expect([status, body.persons_database]).toEqual([503, 'not set'])
      expect((await second.get(path)).status).toBe(200)
    }
    await second.close()
    await first.close()
  })

  it('refuses the persons of another installation', async () => {
    const personsUrl = await create('empty')
    await (await start(await create('migrated'), personsUrl)).close()
    await expect(start(await create('migrated'), personsUrl)).rejects.toThrow('another installation')
    const [url, copyUrl] = [await create('migrated'), await create('empty')]
    const s = await start(url)
    await s.post('/batch/', { api_key: s.projectToken, batch: [{ event: '$set', distinct_id: 'ada', $set: { a: 1 } }] })
    const databases = [openStorage(url), openPersonsStorage(copyUrl)] as const
    await copyPersons(...databases, () => {})
    for (const database of databases) await database.close()
    await s.close()
    await expect(start(await create('migrated'), copyUrl)).rejects.toThrow('another installation')
  })

  it.each(dialects)('names a mix-up of the two databases on %s', async dialect => {
    const databases = [await createTestDatabase(dialect, 'empty'), await createTestDatabase(dialect, 'empty')] as const
    made.push(...databases)
    const [main, persons] = databases.map(({ url }) => openStorage(url)) as [Storage, Storage]
    await migrate(main.kysely, dialect)
    await migrate(persons.kysely, dialect, { steps: personsMigrations })
    await expect(migrate(persons.kysely, dialect)).rejects.toThrow('DATABASE_URL names a database of persons')
    await expect(migrate(main.kysely, dialect, { steps: personsMigrations })).rejects.toThrow(
      'PERSONS_DATABASE_URL names a main database',
    )
    const newer = { version: personsMigrations.at(-1)!.version + 1, name: 'future', applied_at: '2026' }
    await persons.kysely.insertInto('schema_migrations').values(newer).execute()
    await expect(migrate(persons.kysely, dialect, { steps: personsMigrations })).rejects.toThrow('The persons database')
    for (const storage of [main, persons]) await storage.close()
  })

  it.each(dialects)('gives no new project or cohort an id of the past, when %s was restored', async dialect => {
    const databases = [
      await createTestDatabase(dialect, 'empty'),
      await createTestDatabase(ofPersons, 'empty'),
    ] as const
    made.push(...databases)
    const [databaseUrl, personsUrl] = databases.map(({ url }) => url) as [string, string]
    const s = await startScenario(dialect, { databaseUrl, personsUrl })
    const values = [{ ...{ type: 'behavioral', event_type: 'events', key: 'paid' }, ...lastMonth }]
    const create = async ({ post, project }: Scenario) => {
      const { id } = (await post('/api/projects/', { name: 'New' })).body
      const of = `/api/projects/${id}`
      const cohort = (await post(`${project}/cohorts/`, { name: 'New', is_static: true })).body.id
      const paying = await post(`${project}/cohorts/`, {
        name: 'Paying',
        filters: { properties: { type: 'AND', values } },
      })
      expect(paying.status).toBe(201)
      return { id, of, cohort, paying: paying.body.id }
    }
    const send = (api_key: string) =>
      s.post('/batch/', { api_key, batch: [{ event: 'paid', distinct_id: 'ada', $set: { plan: 'pro' } }] })
    const first = await create(s)
    expect((await send(s.projectToken)).status).toBe(200)
    expect((await send((await s.get(`${first.of}/`)).body.api_token)).status).toBe(200)
    const add = `${s.project}/cohorts/${first.cohort}/add_persons_to_static_cohort/`
    expect((await s.patch(add, { distinct_ids: ['ada'] })).body.added).toBe(1)
    await s.close()

    const main = openStorage(databaseUrl)
    const tables = ['cohorts', 'counted_events', 'projects'] as const
    for (const table of tables) {
      const lastId = table === 'projects' ? s.projectId : 0
      await main.kysely.deleteFrom(table).where('id', '>', lastId).execute()
      if (dialect === 'sqlite')
        await sql`update sqlite_sequence set seq = ${lastId} where name = ${table}`.execute(main.kysely)
      else await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${lastId + 1}, false)`.execute(main.kysely)
    }
    await main.close()

    const restored = await startScenario(dialect, { databaseUrl, personsUrl })
    const second = await create(restored)
    expect(second.id).toBeGreaterThan(first.id)
    for (const cohort of [second.cohort, second.paying]) {
      const { results } = (await restored.get(`${restored.project}/cohorts/${cohort}/persons/`)).body
      expect(results).toEqual([])
    }
    await restored.close()
  })

  it('refuses to look for persons elsewhere than before', async () => {
    const [url, personsUrl] = [await create('migrated'), await create('empty')]
    await (await start(url, personsUrl)).close()
    await expect(start(url)).rejects.toThrow('PERSONS_DATABASE_URL')
    await expect(start(url, await create('empty'))).rejects.toThrow('PERSONS_DATABASE_URL')
    await (await start(url, personsUrl)).close()
  })
})
