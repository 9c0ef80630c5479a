import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { openSqlite } from '../../packages/server/src/storage/sqlite/sqlite-connection.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { startScenario } from '../../packages/server/src/testing/scenario.ts'
import { freePort } from '../free-port.ts'
import { launchServer } from './server-process.ts'
import { addressOf, startTcpProxy, type TcpProxy, through } from './tcp-proxy.ts'

const evaluationOf = (token: string) => ({ method: 'POST', body: JSON.stringify({ token, distinct_id: 'user' }) })

/** A database with one flag, and the token of its project. */
async function databaseWithFlag(): Promise<{ database: TestDatabase; token: string }> {
  const database = await createTestDatabase('postgres')
  const s = await startScenario('postgres', { databaseUrl: database.url })
  await s.post(`${s.project}/feature_flags/`, { key: 'existing' })
  await s.close()
  return { database, token: s.projectToken }
}

describe('a node that is started while PostgreSQL is unavailable', () => {
  it.each([
    ['refuses connections', (proxy: TcpProxy) => proxy.refuse(), (proxy: TcpProxy) => proxy.admit()],
    ['does not respond', (proxy: TcpProxy) => proxy.freeze(), (proxy: TcpProxy) => proxy.thaw()],
  ])('(it %s) is alive but not ready, and recovers automatically', async (_name, take, giveBack) => {
    const { database, token } = await databaseWithFlag()
    const proxy = await startTcpProxy(addressOf(database.url))
    take(proxy)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const server = launchServer(through(proxy, database.url), { PORT: String(port) })
    const request = (path: string, init?: RequestInit) =>
      fetch(url + path, { ...init, signal: AbortSignal.timeout(20_000) })
    const statusOf = (path: string) =>
      request(path).then(
        reply => reply.status,
        () => 0,
      )
    try {
      await expect.poll(() => statusOf('/_livez')).toBe(200)
      const ready = await request('/_readyz')
      expect(ready.status).toBe(503)
      expect(await ready.json()).toMatchObject({ status: 'not ready', database: 'away' })
      for (const reply of [await request('/flags/?v=2', evaluationOf(token)), await request('/api/projects/')]) {
        expect(reply.status).toBe(503)
        expect(reply.headers.get('retry-after')).toBe('1')
        expect(((await reply.json()) as { code: string }).code).toBe('unavailable')
      }
      giveBack(proxy)
      proxy.cut()
      await expect.poll(() => statusOf('/_readyz')).toBe(200)
      const response = await request('/flags/?v=2', evaluationOf(token))
      expect(Object.keys(((await response.json()) as { flags: object }).flags)).toEqual(['existing'])
    } finally {
      giveBack(proxy)
      expect(await server.stop()).toBe(0)
      await proxy.close()
      await database.drop()
    }
  })

  it('exits with 0 on a stop signal meanwhile, and immediately when waiting cannot help', async () => {
    const away = 'postgres://user@127.0.0.1:1/none'
    const port = await freePort()
    const waiting = launchServer(away, { PORT: String(port) })
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/_livez`).then(
          reply => reply.status,
          () => 0,
        ),
      )
      .toBe(200)
    expect(await waiting.stop()).toBe(0)

    const database = await createTestDatabase('postgres')
    const wrong = new URL(database.url)
    wrong.pathname = '/there_is_no_such_database'
    const ended = launchServer(wrong.href)
    expect(await ended.ended).toBe(1)
    expect(ended.lines.join('\n')).toContain('there_is_no_such_database')
    await database.drop()
  })

  it('loads its projects into memory before the first request', async () => {
    const { database, token } = await databaseWithFlag()
    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', {
      databaseUrl: through(proxy, database.url),
      environment: { HALYARD_WARM_PROJECTS_MAX: '10' },
    })
    try {
      await expect.poll(() => s.halyard.serving.snapshots.cached(token)).toBeDefined()
      const { body: created } = await s.post('/api/projects/', { name: 'created later' })
      await s.post(`/api/projects/${created.id}/feature_flags/`, { key: 'new' })
      await expect.poll(() => s.halyard.serving.snapshots.cached(created.api_token)).toBeDefined()
      proxy.refuse()
      for (const [projectToken, key] of [
        [token, 'existing'],
        [created.api_token, 'new'],
      ]) {
        const reply = await s.post('/flags/?v=2', { token: projectToken, distinct_id: 'user' })
        expect(Object.keys(reply.body.flags)).toEqual([key])
      }
    } finally {
      proxy.admit()
      await s.close()
      await proxy.close()
      await database.drop()
    }
  })
})

describe('readiness', () => {
  it('is reported only when every project can be served without the database', async () => {
    const { database, token } = await databaseWithFlag()
    const first = await startScenario('postgres', { databaseUrl: database.url })
    const tokens = [token]
    for (let n = 0; n < 15; n++) {
      const { body } = await first.post('/api/projects/', { name: `project ${n}` })
      await first.post(`/api/projects/${body.id}/feature_flags/`, { key: 'existing' })
      tokens.push(body.api_token)
    }
    await first.close()

    const proxy = await startTcpProxy(addressOf(database.url))
    const s = await startScenario('postgres', {
      databaseUrl: through(proxy, database.url),
      environment: { HALYARD_WARM_PROJECTS_MAX: '100' },
    })
    try {
      await expect.poll(async () => (await s.get('/_readyz')).status, { interval: 1 }).toBe(200)
      proxy.refuse()
      for (const projectToken of tokens) {
        const reply = await s.post('/flags/?v=2', { token: projectToken, distinct_id: 'user' })
        expect(Object.keys(reply.body.flags)).toEqual(['existing'])
      }
      const notReady = { status: 'not ready', evaluation: 'ok', writes: 'unavailable', database: 'away' }
      expect((await s.get('/_readyz')).body).toMatchObject(notReady)
      expect((await s.get('/_readyz?for=evaluation')).status).toBe(200)
    } finally {
      proxy.admit()
      await s.close()
      await proxy.close()
      await database.drop()
    }
  })
})

/** Blocks all writers until the returned function is called. */
type HoldWriters = (url: string) => Promise<() => Promise<void>>

const blockWriters: Record<'sqlite' | 'postgres', HoldWriters> = {
  async sqlite(url) {
    const handle = openSqlite(url.slice('sqlite:'.length))
    // The server, in the same process, may be writing at this moment.
    await vi.waitFor(() => handle.exec('begin immediate'), { timeout: 30_000, interval: 5 })
    return async () => {
      handle.exec('rollback')
      handle.close()
    }
  },
  async postgres(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('begin')
    await client.query('select * from change_head for update')
    return async () => {
      await client.query('rollback')
      await client.end()
    }
  },
}

onEachDatabase('while a writer is blocked', dialect => {
  it('reads and evaluation continue with more waiting writers than connections', async () => {
    const database = await createTestDatabase(dialect)
    const s = await startScenario(dialect, {
      databaseUrl: database.url,
      environment: { HALYARD_STATEMENT_MILLISECONDS_MAX: '4000' },
    })
    try {
      const { id } = (await s.post(`${s.project}/feature_flags/`, { key: 'read' })).body
      // The first use of a key is recorded, which must not block the request.
      const fresh = s.as((await s.post('/api/personal_api_keys/', { label: 'fresh', scopes: ['*'] })).body.value)
      const release = await blockWriters[dialect](database.url)
      const writing = Array.from({ length: 30 }, (_, index) =>
        s.post(`${s.project}/feature_flags/`, { key: `waits-${index}` }),
      )
      for (let round = 0; round < 5; round++) {
        expect((await fresh.get(`${s.project}/feature_flags/${id}/`)).status).toBe(200)
        expect((await fresh.get(`${s.project}/feature_flags/`)).body.count).toBe(1)
        const evaluated = await s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'user' })
        expect(Object.keys(evaluated.body.flags)).toEqual(['read'])
      }
      await release()
      const replies = await Promise.all(writing)
      expect(replies.filter(reply => ![201, 503].includes(reply.status))).toEqual([])
      expect((await s.get(`${s.project}/feature_flags/?limit=100`)).body.count).toBe(
        1 + replies.filter(reply => reply.status === 201).length,
      )
      expect((await s.post(`${s.project}/feature_flags/`, { key: 'afterwards' })).status).toBe(201)
    } finally {
      await s.close()
      await database.drop()
    }
  })
})

describe('a PostgreSQL that becomes read-only, as after a failover', () => {
  it('reads and evaluation continue, writes get 503, and the new primary is found automatically', async () => {
    const database = await createTestDatabase('postgres')
    const s = await startScenario('postgres', { databaseUrl: database.url })
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    const name = new URL(database.url).pathname.slice(1)
    const setReadOnly = async (value: 'on' | 'off') => {
      await admin.query('set default_transaction_read_only = off')
      await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`)
    }
    try {
      const { id } = (await s.post(`${s.project}/feature_flags/`, { key: 'read' })).body
      await setReadOnly('on')
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      const tryWrite = async () => (await s.post(`${s.project}/feature_flags/`, { key: 'written' })).status
      await expect.poll(tryWrite).toBe(503)
      await expect.poll(async () => (await s.get(`${s.project}/feature_flags/${id}/`)).status).toBe(200)
      expect((await s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'user' })).status).toBe(200)
      const refused = await s.post(`${s.project}/feature_flags/`, { key: 'written' })
      expect(refused.headers.get('retry-after')).toBe('1')
      await setReadOnly('off')
      await expect.poll(tryWrite).toBe(201)
    } finally {
      await admin.end()
      await s.close()
      await database.drop()
    }
  })
})
