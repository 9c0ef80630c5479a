import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { instantOf } from '../../packages/server/src/instant.ts'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { createFaultInjector } from '../../packages/server/src/testing/failing-statement.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { findFaults } from './consistency.ts'
import { runCommand } from './server-process.ts'
import { addressOf, startTcpProxy, through } from './tcp-proxy.ts'

const patience = { timeout: 25_000, interval: 100 }
/** Short timeouts, so that tests with a paused database are fast. */
const impatient = { HALYARD_STATEMENT_MILLISECONDS_MAX: '500' }

/** Each takes as long as the statement timeout. */
const commitCuts = Number(process.env.HALYARD_COMMIT_CUTS ?? 2)

const isReady = async (s: Scenario) => (await s.get('/_readyz')).status === 200
const createFlag = (s: Scenario, key: string) => s.post(`${s.project}/feature_flags/`, { key })

const evaluate = (s: Scenario) => s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'user' })

/** After every fault: recovery is automatic, and the next write succeeds. */
async function expectRecovery(s: Scenario, key: string): Promise<void> {
  await vi.waitFor(async () => expect((await createFlag(s, key)).status).toBe(201), patience)
  await vi.waitFor(async () => expect(await isReady(s)).toBe(true), patience)
}

onEachDatabase('a database that fails every n-th statement', dialect => {
  it('responds to every request, leaves nothing partially written and recovers', async () => {
    const injector = createFaultInjector()
    const database = await createTestDatabase(dialect)
    const s = await startScenario(dialect, { storage: injector, databaseUrl: database.url })
    try {
      const statuses = new Map<number, number>()
      for (const n of [13, 7, 5, 3, 2]) {
        injector.failEvery(n)
        const replies = await Promise.all(
          Array.from({ length: 24 }, async (_, index) => {
            const created = await createFlag(s, `flag-${n}-${index}`)
            if (created.status !== 201) return [created]
            const path = `${s.project}/feature_flags/${created.body.id}/`
            return [created, await s.patch(path, { name: `changed ${index}` }), await s.get(path)]
          }),
        )
        injector.disarm()
        for (const { status } of replies.flat()) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      expect(
        [...statuses.keys()].every(status => [200, 201, 503].includes(status)),
        JSON.stringify([...statuses]),
      ).toBe(true)
      expect(statuses.get(503)).toBeGreaterThan(0)
      await expectRecovery(s, 'afterwards')
      expect(await findFaults(database.url, [])).toEqual([])
    } finally {
      await s.close()
      await database.drop()
    }
  })
})

describe('PostgreSQL behind a failing network', () => {
  it('stops responding during a commit: the write is not acknowledged, and no connection leaks', async () => {
    const database = await createTestDatabase('postgres')
    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', { databaseUrl: through(proxy, database.url), environment: impatient })
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const has = async (key: string) => (await admin.query('select 1 from flags where key = $1', [key])).rowCount === 1
    const connections = async () => {
      const { rows } = await admin.query(
        `select count(*)::int as open, (count(*) filter (where state like 'idle in transaction%'))::int as stuck
         from pg_stat_activity where datname = current_database() and application_name = 'halyard'`,
      )
      return rows[0] as { open: number; stuck: number }
    }
    try {
      for (let round = 0; round < commitCuts; round++) {
        const isLost = round % 2 === 0
        proxy.silenceCommit(isLost)
        const cut = await createFlag(s, `cut-${round}`)
        expect(cut.status).toBe(503)
        expect(cut.body.detail).toContain('Check the outcome')
        await expectRecovery(s, `after-${round}`)
        await expect.poll(() => has(`cut-${round}`)).toBe(!isLost)
        await expect.poll(() => proxy.silentCount).toBe(0)
      }
      await expect.poll(connections).toMatchObject({ stuck: 0 })
      expect((await connections()).open).toBeLessThanOrEqual(10)
      const served = Object.keys((await evaluate(s)).body.flags).sort()
      const { rows } = await admin.query<{ key: string }>('select key from flags order by key')
      expect(served).toEqual(rows.map(({ key }) => key).sort())
      // Leases and all other writers continue as well.
      await s.halyard.jobs.runDue(instantOf(new Date()))
      expect(await findFaults(database.url, [])).toEqual([])
    } finally {
      await admin.end()
      await s.close()
      await proxy.close()
      await database.drop()
    }
  }, 600_000)

  it('is paused: readiness fails, requests get a response, and the server recovers automatically', async () => {
    const database = await createTestDatabase('postgres')
    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', { databaseUrl: through(proxy, database.url), environment: impatient })
    try {
      expect(await isReady(s)).toBe(true)
      await createFlag(s, 'served')
      expect((await evaluate(s)).body.flags.served.enabled).toBe(true)
      proxy.freeze()
      const [ready, write, live, evaluated] = await Promise.all([
        s.get('/_readyz'),
        createFlag(s, 'paused'),
        s.get('/_livez'),
        evaluate(s),
      ])
      expect(evaluated.body.flags.served.enabled).toBe(true)
      expect(ready.status).toBe(503)
      expect(ready.body.database).toBe('away')
      expect(write.status).toBe(503)
      expect(write.headers.get('retry-after')).toBe('1')
      expect(live.status).toBe(200)
      proxy.thaw()
      await expectRecovery(s, 'thawed')
      expect(await findFaults(database.url, [])).toEqual([])
    } finally {
      proxy.thaw()
      await s.close()
      await proxy.close()
      await database.drop()
    }
  })

  it('falls silent: requests that arrive later get 503 without trying the database one by one', async () => {
    const database = await createTestDatabase('postgres')
    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', { databaseUrl: through(proxy, database.url), environment: impatient })
    const list = () => s.get(`${s.project}/feature_flags/`)
    try {
      await createFlag(s, 'served')
      proxy.freeze()
      // The first one finds out; the second arrives while it waits.
      const [first, second] = await Promise.all([list(), list()])
      expect([first.status, second.status]).toEqual([503, 503])
      // None of these tries the database on its own: they share the probes. That they do not wait for one is a test of the change feed.
      const before = proxy.acceptedCount
      const later = await Promise.all(Array.from({ length: 20 }, list))
      expect(later.map(({ status }) => status)).toEqual(Array(20).fill(503))
      expect(proxy.acceptedCount - before).toBeLessThan(10)
      proxy.thaw()
      await expectRecovery(s, 'thawed')
    } finally {
      proxy.thaw()
      await s.close()
      await proxy.close()
      await database.drop()
    }
  })

  it('takes too long for a statement: 503 that names the timeout, and the connection is reused', async () => {
    const database = await createTestDatabase('postgres')
    const s = await startScenario('postgres', { databaseUrl: database.url, environment: impatient })
    const blocker = new pg.Client({ connectionString: database.url })
    await blocker.connect()
    const open = () => s.halyard.storage.pool!.totalCount
    try {
      const { id } = (await createFlag(s, 'blocked')).body
      const before = open()
      await blocker.query('begin')
      await blocker.query('select 1 from flags where id = $1 for update', [id])
      const reply = await s.patch(`${s.project}/feature_flags/${id}/`, { name: 'blocked' })
      expect(reply.status).toBe(503)
      expect(reply.body).toMatchObject({ code: 'timeout', detail: expect.stringContaining('took too long') })
      expect(s.halyard.storage.health.lastWriteFailure).toBe('timeout')
      expect(open()).toBeGreaterThanOrEqual(before)
      await blocker.query('rollback')
      expect((await s.patch(`${s.project}/feature_flags/${id}/`, { name: 'free' })).status).toBe(200)
    } finally {
      await blocker.end()
      await s.close()
      await database.drop()
    }
  })

  it('is disconnected repeatedly: no acknowledged write is lost', async () => {
    const database = await createTestDatabase('postgres')
    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', { databaseUrl: through(proxy, database.url), environment: impatient })
    try {
      const acknowledged: string[] = []
      for (let round = 0; round < 10; round++) {
        const writing = Array.from({ length: 8 }, async (_, index) => {
          const key = `cut-${round}-${index}`
          const reply = await createFlag(s, key)
          expect([201, 503]).toContain(reply.status)
          if (reply.status === 201) acknowledged.push(key)
        })
        await Promise.race(writing)
        proxy.cut()
        await Promise.all(writing)
      }
      await expectRecovery(s, 'recovered')
      const listed = await s.get(`${s.project}/feature_flags/?limit=1000`)
      const keys = listed.body.results.map((flag: { key: string }) => flag.key)
      expect(acknowledged.filter(key => !keys.includes(key))).toEqual([])
      expect(await findFaults(database.url, [])).toEqual([])
    } finally {
      await s.close()
      await proxy.close()
      await database.drop()
    }
  })
})

describe('a separate PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  it('is restarted: requests get 503 meanwhile, and no data is lost', async () => {
    const s = await startScenario('postgres', { databaseUrl: server.url })
    try {
      expect((await createFlag(s, 'before')).status).toBe(201)
      const restarting = server.restart()
      let isBack = false
      void restarting.then(() => {
        isBack = true
      })
      const statuses = new Set<number>()
      while (!isBack) statuses.add((await createFlag(s, `during-${statuses.size}-${Math.random()}`)).status)
      await restarting
      expect(
        [...statuses].every(status => status === 201 || status === 503),
        [...statuses].join(' '),
      ).toBe(true)
      await expectRecovery(s, 'after')
      expect((await s.get(`${s.project}/feature_flags/?search=before`)).body.count).toBe(1)
      expect(await findFaults(server.url, [])).toEqual([])
    } finally {
      await s.close()
    }
  })

  it('has no connection left: requests get 503 until there is one', async () => {
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`create role crowded login password 'crowded'`)
    await admin.query('create database crowded owner crowded')
    const url = new URL(server.url)
    Object.assign(url, { username: 'crowded', password: 'crowded', pathname: '/crowded' })
    const s = await startScenario('postgres', { databaseUrl: url.href })
    try {
      await admin.query('alter role crowded connection limit 0')
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'crowded'`)
      await vi.waitFor(async () => expect((await createFlag(s, 'crowded')).status).toBe(503), patience)
      expect(await isReady(s)).toBe(false)
      await admin.query('alter role crowded connection limit -1')
      await expectRecovery(s, 'freed')
    } finally {
      await s.close()
      await admin.end()
    }
  })
})

describe('a server that starts before the database', () => {
  it('waits for it', async () => {
    const proxy = await startTcpProxy(addressOf(inject('postgresUrl')))
    const database = await createTestDatabase('postgres')
    proxy.freeze()
    const starting = startScenario('postgres', { databaseUrl: through(proxy, database.url), environment: impatient })
    proxy.cut()
    proxy.thaw()
    const s = await starting
    expect(await isReady(s)).toBe(true)
    await s.close()
    await proxy.close()
    await database.drop()
  })

  it('exits with a message when there is none', async () => {
    const { code, output } = await runCommand(['serve'], {
      DATABASE_URL: 'postgres://user@127.0.0.1:1/none',
      HALYARD_DATABASE_WAIT_SECONDS: '0',
      LOG_LEVEL: 'silent',
      PORT: '0',
    })
    expect(code).toBe(1)
    expect(output).toMatch(/^halyard: .*ECONNREFUSED/m)
  })
})

describe('a SQLite file', () => {
  it('on a full disk: reads continue, writes get 503 with the reason, and freeing space is enough to recover', async () => {
    const database = await createTestDatabase('sqlite')
    const s = await startScenario('sqlite', { databaseUrl: database.url })
    const handle = s.halyard.storage.sqlite!.handle
    try {
      const { id } = (await createFlag(s, 'first')).body
      const pages = (handle.prepare('pragma page_count').all() as { page_count: number }[])[0]!.page_count
      handle.exec(`pragma max_page_count = ${pages}`)
      const big = { filters: { groups: [], note: 'x'.repeat(200_000) } }
      const refused = await s.patch(`${s.project}/feature_flags/${id}/`, big)
      expect(refused.status).toBe(503)
      expect(refused.body).toMatchObject({ code: 'disk_full', detail: 'The disk is full; nothing was changed.' })
      expect(s.halyard.storage.health).toMatchObject({ lastWriteFailure: 'disk_full', writeFailures: { disk_full: 1 } })
      expect((await s.get(`${s.project}/feature_flags/${id}/`)).body.version).toBe(1)
      const unready = await s.get('/_readyz')
      expect(unready.status).toBe(503)
      expect(unready.body).toMatchObject({ writes: 'unavailable', evaluation: 'ok', database: 'ok', disk: 'full' })
      expect((await s.get('/_readyz?for=evaluation')).status).toBe(200)
      expect((await s.get('/metrics')).text).toMatch(/^halyard_database_disk_full\{database="main"\} 1$/m)
      handle.exec('pragma max_page_count = 1000000')
      expect((await s.patch(`${s.project}/feature_flags/${id}/`, big)).status).toBe(200)
      const ready = await s.get('/_readyz')
      expect([ready.status, ready.body.disk]).toEqual([200, undefined])
      const { text } = await s.get('/metrics')
      expect(text).toMatch(/^halyard_database_disk_full\{database="main"\} 0$/m)
      expect(text).toMatch(/^halyard_database_write_failures_total\{database="main",kind="disk_full"\} 1$/m)
      expect(s.halyard.storage.health.lastWriteFailure).toBeUndefined()
      expect(await findFaults(database.url, [])).toEqual([])
    } finally {
      await s.close()
      await database.drop()
    }
  })

  it('that became read-only: reads continue, writes get 503', async () => {
    const s = await startScenario('sqlite')
    const handle = s.halyard.storage.sqlite!.handle
    try {
      const { id } = (await createFlag(s, 'first')).body
      handle.exec('pragma query_only = on')
      expect((await createFlag(s, 'second')).status).toBe(503)
      expect((await s.get(`${s.project}/feature_flags/${id}/`)).status).toBe(200)
      handle.exec('pragma query_only = off')
      await expectRecovery(s, 'second')
    } finally {
      await s.close()
    }
  })

  it('that is damaged is rejected at startup with instructions, and is not modified', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halyard-damaged-'))
    const path = join(folder, 'halyard.db')
    const s = await startScenario('sqlite', { databaseUrl: `sqlite:${path}` })
    for (let index = 0; index < 20; index++) await createFlag(s, `flag-${index}`)
    await s.close()
    const sound = readFileSync(path)
    const damages = {
      'not a SQLite file': Buffer.from('plain text\n'.repeat(100)),
      'pages overwritten': Buffer.concat([sound.subarray(0, 8192), Buffer.alloc(40_960, 0xab), sound.subarray(49_152)]),
      'cut short': sound.subarray(0, Math.floor(sound.length / 2)),
    }
    for (const [name, bytes] of Object.entries(damages)) {
      writeFileSync(path, bytes)
      const { code, output } = await runCommand(['serve'], {
        DATABASE_URL: `sqlite:${path}`,
        PORT: '0',
        LOG_LEVEL: 'silent',
      })
      expect(code, name).toBe(1)
      expect(output, name).toContain('is damaged or no SQLite file')
      expect(output, name).toContain('halyard restore <backup>')
      expect(readFileSync(path).equals(bytes), name).toBe(true)
    }
    rmSync(folder, { recursive: true })
  })
})
