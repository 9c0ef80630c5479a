import { isUtf8 } from 'node:buffer'
import type { Dialect, Driver } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import type { Stores } from '../../stores.ts'
import { createTestDatabase, onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario, startTwoNodes, type TwoNodes } from '../../testing/scenario.ts'
import type { AuditEntry, AuditHead } from './audit-store.sql.ts'
import { canonicalJson, type Link, verifyChain } from './verify-chain.ts'
import { verifyLog } from './verify-log.ts'

onEachDatabase('the audit log', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  const organizationId = () => s.organization.split('/').at(-1)!
  const entries = async () => {
    const rows = await s.halyard.database.read(tx => tx.audit.listAfter(organizationId(), 0, 1000))
    return rows.map(({ content, hash }) => ({ ...JSON.parse(content), hash }))
  }

  it('holds who changed what, from where, by which credential and why', async () => {
    const reply = await s.post(
      `${s.project}/feature_flags/`,
      { key: 'audited' },
      { 'x-halyard-note': 'for%20the%20launch', 'x-request-id': 'request-1' },
    )
    expect(reply.status).toBe(201)
    await s.patch(`${s.project}/feature_flags/${reply.body.id}/`, { name: 'Ä "quoted" \u0007 name' })
    const [created, updated] = (await entries()).slice(-2)
    expect(created).toMatchObject({
      actor: { email: 'owner@halyard.local' },
      address: '127.0.0.1',
      credential: { kind: 'personal_api_key' },
      note: 'for the launch',
      objects: [{ type: 'FeatureFlag', id: String(reply.body.id), name: 'audited', activity: 'created' }],
      operation: 'createFeatureFlag',
      path: { project_id: String(s.projectId) },
      request_id: 'request-1',
    })
    expect(updated.objects[0].changes).toEqual([
      { action: 'changed', field: 'name', before: '', after: 'Ä "quoted" \u0007 name' },
    ])
    expect(updated.previous_hash).toBe(created.hash)
  })

  it('has no entry for a write that is refused or invalid', async () => {
    const before = (await entries()).length
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'audited' })).status).toBe(400)
    expect((await s.patch(`${s.project}/feature_flags/999/`, { name: 'x' })).status).toBe(404)
    expect((await s.as('phx_wrong').post(`${s.project}/feature_flags/`, { key: 'x' })).status).toBe(401)
    expect(await entries()).toHaveLength(before)
  })

  it('has an entry for a patch that changes nothing', async () => {
    const before = (await entries()).length
    const { body } = await s.get(`${s.project}/feature_flags/?search=audited`)
    expect((await s.patch(`${s.project}/feature_flags/${body.results[0].id}/`, {})).status).toBe(200)
    const after = await entries()
    expect(after).toHaveLength(before + 1)
    expect(after.at(-1)).toMatchObject({ operation: 'updateFeatureFlag', path: { id: String(body.results[0].id) } })
  })

  it('is a chain of hashes that continues under concurrent writers', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => s.post(`${s.project}/feature_flags/`, { key: `concurrent-${n}` })),
    )
    const rows = await s.halyard.database.read(tx => tx.audit.listAfter(organizationId(), 0, 1000))
    const lines = rows.map(({ content, hash }) => canonicalJson({ ...JSON.parse(content), hash }))
    const head = await s.halyard.database.read(tx => tx.audit.findHead(organizationId()))
    const result = await verifyChain([
      ...lines,
      canonicalJson({ head: { sequence: head!.sequence, hash: head!.hash } }),
    ])
    expect(result).toMatchObject({ entries: rows.length, faults: [] })
  })
})

onEachDatabase('an exported audit log', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect, { environment: { HALYARD_AUDIT_DAYS: '30' } })
    for (const key of ['a', 'b', 'c', 'd', 'e']) await s.post(`${s.project}/feature_flags/`, { key })
  })
  afterAll(() => s.close())

  const exported = async (query = '') =>
    (await s.get(`${s.organization}/audit_log/export/${query}`)).text.split('\n').filter(line => line !== '')
  const sequencesOf = async (lines: string[], expected = {}) =>
    (await verifyChain(lines, expected)).faults.map(({ sequence }) => sequence)
  const entries = () => s.halyard.storage.kysely

  it('verifies, continues an earlier one, and says what an auditor reads', async () => {
    const first = await exported()
    expect(await sequencesOf(first)).toEqual([])
    const { head } = JSON.parse(first.at(-1)!)
    const next = await exported(`?after=${head.sequence}`)
    expect(JSON.parse(next[0]!)).toMatchObject({ operation: 'exportAuditLog', sequence: head.sequence + 1 })
    expect(await sequencesOf(next, { after: head.hash })).toEqual([])
    expect((await s.get(`${s.organization}/audit_log/head/`)).body.sequence).toBeGreaterThan(head.sequence)
    const cef = (await s.get(`${s.organization}/audit_log/export/?format=cef`)).text.split('\n')
    expect(cef[0]).toMatch(/^CEF:0\|Halyard\|Halyard\|[^|]+\|first_start\|.* cs1Label=hash cs1=[0-9a-f]{64} /)
  })

  it('can be searched by person, object, operation, time and text, page by page', async () => {
    const list = async (query: string) => (await s.get(`${s.organization}/audit_log/?${query}`)).body
    const { results } = await list('operation=createFeatureFlag')
    expect(results.map((entry: { objects: { name: string }[] }) => entry.objects[0]!.name)).toEqual([...'edcba'])
    const { type, id } = results[1].objects[0]
    expect((await list(`object=${type}/${id}`)).results).toEqual([results[1]])
    const page = await list('operation=createFeatureFlag&limit=2')
    expect(new URL(page.next).searchParams.get('before')).toBe(String(results[1].sequence))
    expect((await list('user=unknown@example.com')).results).toEqual([])
    expect((await list('user=owner@halyard.local&operation=createFeatureFlag')).results).toHaveLength(5)
    expect((await list('search=CREATEfeature')).results).toHaveLength(5)
    expect((await list('date_to=2020-01-01')).results).toEqual([])
    expect((await s.get(`${s.organization}/audit_log/?date_from=x`)).status).toBe(400)
  })

  it('is refused to members, and readable for admins and auditors', async () => {
    const statuses = []
    for (const level of [1, 0, 8, -1]) {
      const person = await s.join(`level${level}`, level as 1)
      statuses.push((await person.get(`${s.organization}/audit_log/`)).status)
    }
    expect(statuses).toEqual([403, 403, 200, 200])
  })

  it('reveals what is changed in the database behind the back of the server', async () => {
    const [organizationId] = [s.organization.split('/').at(-1)!]
    const change = async (sequence: number, set: { content?: string; sequence?: number }) =>
      entries()
        .updateTable('audit_entries')
        .set(set)
        .where('organization_id', '=', organizationId)
        .where('sequence', '=', sequence)
        .execute()
    const { content } = await entries()
      .selectFrom('audit_entries')
      .select('content')
      .where('sequence', '=', 3)
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    const { body: noted } = await s.get(`${s.organization}/audit_log/head/`)
    await change(3, { content: content.replace('"address":"1', '"address":"2') })
    expect(await sequencesOf(await exported())).toEqual([3])
    await change(3, { content })
    // Two entries change places.
    for (const [from, to] of [
      [3, 1003],
      [4, 3],
      [1003, 4],
    ] as const) {
      await change(from, { sequence: to })
    }
    expect(await sequencesOf(await exported())).toContain(3)
    for (const [from, to] of [
      [3, 1003],
      [4, 3],
      [1003, 4],
    ] as const) {
      await change(from, { sequence: to })
    }
    expect(await sequencesOf(await exported())).toEqual([])
    // The end is removed, and the head set back.
    const last = noted.sequence - 2
    const { hash } = await entries()
      .selectFrom('audit_entries')
      .select('hash')
      .where('sequence', '=', last)
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    await entries().deleteFrom('audit_entries').where('sequence', '>', last).execute()
    await entries()
      .updateTable('audit_heads')
      .set({ sequence: last, hash })
      .where('organization_id', '=', organizationId)
      .execute()
    expect(await sequencesOf(await exported(), { head: noted.hash })).toEqual([last + 1])
    await entries().deleteFrom('audit_entries').where('sequence', '=', 5).execute()
    expect(await sequencesOf(await exported())).toEqual([5])
  })

  it('still verifies after the retention has removed old entries', async () => {
    const other = (await s.post('/api/organizations/', { name: 'Retained' })).body.id
    const log = `/api/organizations/${other}/audit_log`
    const lines = async () => (await s.get(`${log}/export/`)).text.split('\n').filter(line => line !== '')
    await s.patch(`/api/organizations/${other}/`, { name: 'Renamed' })
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 40 * 24 * 3_600_000)))
    const after = await lines()
    expect(JSON.parse(after[0]!)).toMatchObject({ operation: 'trim-audit', actor: null, pruned: { sequence: 2 } })
    expect(await sequencesOf(after)).toEqual([])
    expect(await sequencesOf(after.slice(1))).not.toEqual([])
    const { checkpoint_key: key } = (await s.get(`${log}/head/`)).body
    expect(await verifyChain(after, { key })).toMatchObject({ key, faults: [] })
    expect(await sequencesOf(after, { key: '0'.repeat(64) })).toContain(3)
    // Again, from a log that begins with the checkpoint: each removal is signed.
    await s.patch(`/api/organizations/${other}/`, { name: 'Renamed again' })
    await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 80 * 24 * 3_600_000)))
    expect(await verifyChain(await lines(), { key })).toMatchObject({ key, faults: [] })
  })

  it('removes nothing, and signs nothing, when the date of an entry was changed beside its content', async () => {
    const other = (await s.post('/api/organizations/', { name: 'Backdated' })).body.id
    await s.patch(`/api/organizations/${other}/`, { name: 'Backdated again' })
    const { kysely } = s.halyard.storage
    const ofOther = kysely.updateTable('audit_entries').where('organization_id', '=', other)
    await ofOther.set({ at: '2020-01-01T00:00:00.000000Z' }).execute()
    await s.halyard.jobs.runDue(instantOf(new Date()))
    const lines = async () => (await s.get(`/api/organizations/${other}/audit_log/export/`)).text.trim().split('\n')
    expect(await verifyChain(await lines())).toMatchObject({ start: { sequence: 0 }, faults: [] })
    // What is no entry any more is reported, and does not end the export.
    await ofOther.where('sequence', '=', 1).set({ content: 'not\nJSON' }).execute()
    expect((await sequencesOf(await lines()))[0]).toBe(1)
  })

  it('makes another signing key when its secret key is another one, and the earlier fingerprint shows it', async () => {
    const head = async () => (await s.get(`${s.organization}/audit_log/head/`)).body.checkpoint_key
    const before = await head()
    expect(await head()).toBe(before)
    const { kysely } = s.halyard.storage
    const sealed = await kysely.selectFrom('instance').selectAll().where('name', '=', 'audit_checkpoint_key').execute()
    expect(sealed).toHaveLength(1)
    const sealedElsewhere = createSecretBox('another one').seal('x', 'audit checkpoint key')
    await kysely.updateTable('instance').set({ value: sealedElsewhere }).where('name', '=', sealed[0]!.name).execute()
    const after = await head()
    expect(after).not.toBe(before)
    expect(await head()).toBe(after)
  })
})

onEachDatabase('secrets', dialect => {
  it('are never in the audit log', async () => {
    const s = await startScenario(dialect)
    const secrets: string[] = [s.projectToken]
    const invite = (await s.post(`${s.organization}/invites/`, { target_email: 'new@example.com' })).body
    const password = 'correct horse battery'
    const account = { first_name: 'New', password }
    const session = (await s.as(undefined).post(`/api/signup/${invite.token}/`, account)).body
    const person = s.as(session.api_key)
    secrets.push(invite.token, password, session.api_key)
    secrets.push((await person.post('/api/personal_api_keys/', { label: 'k' })).body.value)
    secrets.push((await s.post(`${s.project}/secret_keys/`, { label: 'k' })).body.value)
    const hook = (await s.post(`${s.project}/webhooks/`, { name: 'w', url: 'https://example.com/a-token' })).body
    secrets.push(hook.secret, 'a-token')
    secrets.push((await s.post(`${s.project}/webhooks/${hook.id}/rotate_secret/`)).body.secret)
    secrets.push((await s.patch(`${s.project}/reset_token/?overlap_hours=1`)).body.api_token)
    const changed = { password: 'another password', current_password: password }
    expect((await person.patch('/api/users/@me/', changed)).status).toBe(200)
    const again = await s.as(undefined).post('/api/login/', { email: 'new@example.com', password: 'another password' })
    await s.as(undefined).post('/api/login/', { email: 'new@example.com', password: 'a wrong one' })
    secrets.push('another password', 'a wrong one', again.body.api_key)
    await s.as(again.body.api_key).post('/api/logout/')
    const invited = (await s.post(`${s.organization}/invites/`, { target_email: 'owner2@example.com' })).body
    secrets.push(invited.token)
    const { text } = await s.get(`${s.organization}/audit_log/export/`)
    const activities = text.matchAll(/"activity":"(\w+)"/g)
    expect(new Set([...activities].map(([, activity]) => activity))).toEqual(
      new Set([
        'accepted',
        'created',
        'password_changed',
        'refused',
        'secret_rotated',
        'signed_in',
        'signed_out',
        'token_replaced',
      ]),
    )
    expect(secrets.every(secret => secret.length > 5)).toBe(true)
    expect(secrets.filter(secret => text.includes(secret))).toEqual([])
    await s.close()
  }, 60_000)
})

onEachDatabase('a log that two nodes write', dialect => {
  let nodes: TwoNodes
  let head: AuditHead
  let rows: readonly AuditEntry[]
  beforeAll(async () => {
    nodes = await startTwoNodes(dialect)
    const { one } = nodes
    const write = (n: number) => nodes.inTurn(one).post(`${one.project}/feature_flags/`, { key: `node-${n}` })
    await Promise.all(Array.from({ length: 60 }, (_, n) => write(n)))
    const id = one.organization.split('/').at(-1)!
    head = (await nodes.two.halyard.database.read(tx => tx.audit.findHead(id)))!
    rows = await nodes.two.halyard.database.read(tx => tx.audit.listAfter(id, 0, 1000))
  }, 60_000)
  afterAll(() => nodes.close())

  /** Where a log with these rows in the database is at fault. */
  const sequencesOf = async (stored: readonly AuditEntry[], upTo: AuditHead = head, after?: Link) => {
    const listAfter = async (_id: string, from: number, limit: number) =>
      stored.filter(({ sequence }) => sequence > from).slice(0, limit)
    const tx = { audit: { listAfter } } as unknown as Pick<Stores, 'audit'>
    const expected = { after: after?.hash, from: after?.sequence ?? 0 }
    return (await verifyLog(tx, upTo, expected)).faults.map(({ sequence }) => sequence)
  }

  it('is one chain', async () => {
    expect(rows.length).toBeGreaterThanOrEqual(61)
    expect(await sequencesOf(rows)).toEqual([])
  })

  it('reveals each entry that is removed or swapped, and where the log is cut off', async () => {
    const few = rows.slice(0, 12)
    const upTo = { ...head, ...few.at(-1)! }
    for (const [at, row] of few.entries()) {
      const { sequence } = row
      expect((await sequencesOf(few.toSpliced(at, 1), upTo))[0], 'removed').toBe(sequence)
      expect((await sequencesOf(few.slice(0, at), upTo)).at(-1), 'cut off').toBe(sequence)
      const next = few[at + 1]
      if (!next) continue
      const swapped = [
        { ...next, sequence },
        { ...row, sequence: next.sequence },
      ]
      expect((await sequencesOf(few.toSpliced(at, 2, ...swapped), upTo))[0], 'swapped').toBe(sequence)
    }
  })

  it('reveals every bit that is changed in a column of an entry', async () => {
    const [before, row] = rows.slice(-2) as [AuditEntry, AuditEntry]
    const upTo = { ...head, pruned: before }
    expect(await sequencesOf([row], upTo, before)).toEqual([])
    const unnoticed: string[] = []
    let bits = 0
    for (const [column, value] of Object.entries(row)) {
      for (const changed of withChangedBits(value)) {
        bits += 1
        const faults = await sequencesOf([{ ...row, [column]: changed }], upTo, before)
        if (faults.length === 0) unnoticed.push(`${column}: ${changed}`)
      }
    }
    expect(unnoticed).toEqual([])
    expect(bits).toBeGreaterThan(5000)
  })
})

/** The value once for each of its bits, as far as a database stores it. */
function* withChangedBits(value: string | number | null): Generator<string | number> {
  if (typeof value === 'number') for (let bit = 0; bit < 31; bit++) yield value ^ (1 << bit)
  if (typeof value !== 'string') return
  const bytes = Buffer.from(value)
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    if (isUtf8(changed) && !changed.includes(0)) yield changed.toString()
  }
}

onEachDatabase('a write', dialect => {
  it('costs the audit log one statement on PostgreSQL, and two on SQLite unless another process wrote last', async () => {
    const statements: string[] = []
    const recordingDriver = (driver: Driver): Driver => ({
      init: () => driver.init(),
      async acquireConnection() {
        const connection = await driver.acquireConnection()
        if (Object.hasOwn(connection, 'executeQuery')) return connection
        const execute = connection.executeQuery.bind(connection)
        connection.executeQuery = query => {
          if (query.sql.includes('audit_')) statements.push(query.sql)
          return execute(query)
        }
        return connection
      },
      beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
      commitTransaction: connection => driver.commitTransaction(connection),
      rollbackTransaction: connection => driver.rollbackTransaction(connection),
      releaseConnection: connection => driver.releaseConnection(connection),
      destroy: () => driver.destroy(),
    })
    const wrapDialect = (wrapped: Dialect): Dialect => ({
      createAdapter: () => wrapped.createAdapter(),
      createDriver: () => recordingDriver(wrapped.createDriver()),
      createIntrospector: db => wrapped.createIntrospector(db),
      createQueryCompiler: () => wrapped.createQueryCompiler(),
    })
    const database = await createTestDatabase(dialect)
    const s = await startScenario(dialect, { databaseUrl: database.url, storage: { wrapDialect } })
    const log = `${s.organization}/audit_log`
    const { id } = (await s.post(`${s.project}/feature_flags/`, { key: 'counted' })).body
    const count = async (write: () => Promise<{ status: number }>) => {
      statements.length = 0
      expect((await write()).status).toBeLessThan(300)
      return statements.length
    }
    const perWrite = dialect === 'sqlite' ? 2 : 1
    expect(await count(() => s.patch(`${s.project}/feature_flags/${id}/`, { name: 'a' }))).toBe(perWrite)
    expect(await count(() => s.post(`${s.project}/feature_flags/`, { key: 'another' }))).toBe(perWrite)
    const other = await startScenario(dialect, { databaseUrl: database.url })
    await other.patch(`${s.project}/feature_flags/${id}/`, { name: 'b' })
    await other.close()
    expect(await count(() => s.patch(`${s.project}/feature_flags/${id}/`, { name: 'c' }))).toBeGreaterThan(0)
    const lines = (await s.get(`${log}/export/`)).text.split('\n')
    expect((await verifyChain(lines)).faults).toEqual([])
    await s.close()
    await database.drop()
  }, 60_000)
})
