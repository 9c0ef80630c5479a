import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canonicalJson, firstPreviousHash, sha256 } from '../../packages/server/src/features/audit/verify-chain.ts'
import { openStorage, type Storage } from '../../packages/server/src/storage/open-storage.ts'
import { onEachDatabase, writeDirectly } from '../../packages/server/src/testing/databases.ts'
import { runCommand } from '../faults/server-process.ts'
import { type Program, startProgram } from './start-program.ts'

onEachDatabase('the audit log of the built program', dialect => {
  let s: Program
  let storage: Storage
  const folder = mkdtempSync(join(tmpdir(), 'halyard-audit-'))
  const settings = { HALYARD_AUDIT_DAYS: '30', HALYARD_SCHEDULER_SECONDS: '1' }
  beforeAll(async () => {
    s = await startProgram(dialect, settings)
    storage = openStorage(s.databaseUrl)
  })
  afterAll(async () => {
    await storage.close()
    await s.close()
    rmSync(folder, { recursive: true })
  })

  const halyard = (...args: string[]) =>
    runCommand(args, { ...settings, DATABASE_URL: s.databaseUrl, LOG_LEVEL: 'silent' })
  const newLog = async (name: string): Promise<string> => {
    const { id } = (await s.post('/api/organizations/', { name })).body
    for (const suffix of ['A', 'B', 'C']) await s.patch(`/api/organizations/${id}/`, { name: `${name} ${suffix}` })
    return id
  }
  const rowsOf = (organization: string) =>
    storage.kysely
      .selectFrom('audit_entries')
      .selectAll()
      .where('organization_id', '=', organization)
      .orderBy('sequence')
      .execute()
  const update = (db: Storage['kysely'], organization: string, sequence: number, set: object) =>
    db
      .updateTable('audit_entries')
      .set(set)
      .where('organization_id', '=', organization)
      .where('sequence', '=', sequence)
      .execute()
  const change = (organization: string, sequence: number, set: object) =>
    writeDirectly(storage, db => update(db, organization, sequence, set))
  const exported = async (organization: string): Promise<string> => {
    const file = join(folder, `${organization}.jsonl`)
    writeFileSync(file, (await s.get(`/api/organizations/${organization}/audit_log/export/`)).text)
    return file
  }
  /** Makes the whole log consistent with another date, as if it had been written then. */
  async function backdate(organization: string, at: string): Promise<void> {
    const rows = await rowsOf(organization)
    const rewrite = async (tx: Storage['kysely']) => {
      let hash = firstPreviousHash
      for (const { sequence, content } of rows) {
        const text = canonicalJson({ ...JSON.parse(content), at, previous_hash: hash })
        hash = sha256(text)
        await update(tx, organization, sequence, { at, content: text, hash })
      }
      await tx.updateTable('audit_heads').set({ hash }).where('organization_id', '=', organization).execute()
    }
    await writeDirectly(storage, db => db.transaction().execute(rewrite))
  }

  it('reports columns that do not match the content, by which filtered lists would hide an entry', async () => {
    const id = await newLog('Hidden')
    const intact = await halyard('audit', 'verify')
    expect(intact, intact.output).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${id}: Verified 4 entries`),
    })
    const { sequence, ...row } = (await rowsOf(id))[2]!
    const wrong = {
      operation: 'another',
      objects: '',
      user_id: 999,
      at: '2020-01-01T00:00:00.000000Z',
      // The same value, in which a search finds nothing.
      content: row.content.replace('Hidden', '\\u0048idden'),
    }
    await change(id, sequence, wrong)
    const found = await halyard('audit', 'verify')
    expect(found.code).toBe(1)
    for (const column of Object.keys(wrong))
      expect(found.output).toContain(`${id}: Entry ${sequence}: Its column \`${column}\` does not match its content.`)
    expect((await halyard('audit', 'verify', await exported(id))).code).toBe(0)
    const object = `Organization/${id}`
    const { results } = (await s.get(`/api/organizations/${id}/audit_log/?object=${object}`)).body
    expect(results.map((entry: { sequence: number }) => entry.sequence)).not.toContain(sequence)
    await change(id, sequence, row)
    expect((await halyard('audit', 'verify')).code).toBe(0)
  })

  it('reports entries without a head, after the head, and a head that names another checkpoint', async () => {
    const id = await newLog('Headless')
    const moveHead = (set: object) =>
      writeDirectly(storage, db => db.updateTable('audit_heads').set(set).where('organization_id', '=', id).execute())
    const [, second] = await rowsOf(id)
    const head = await storage.kysely
      .selectFrom('audit_heads')
      .selectAll()
      .where('organization_id', '=', id)
      .executeTakeFirstOrThrow()
    const outputOf = async () => (await halyard('audit', 'verify')).output
    await moveHead({ sequence: second!.sequence, hash: second!.hash })
    expect(await outputOf()).toContain(`${id}: Entry ${second!.sequence + 1}: It is after the head of the log.`)
    await moveHead({ ...head, pruned_sequence: 1 })
    expect(await outputOf()).toContain(`${id}: Entry 0: The head names another entry as the last one removed.`)
    await writeDirectly(storage, db => db.deleteFrom('audit_heads').where('organization_id', '=', id).execute())
    expect(await outputOf()).toContain(`${id}: Entry 1: It is after the head of the log.`)
    await writeDirectly(storage, db => db.insertInto('audit_heads').values(head).execute())
    expect(await halyard('audit', 'verify', '--head', head.hash)).toMatchObject({ code: 2 })
    expect((await halyard('audit', 'verify')).code).toBe(0)
  })

  it('removes nothing of a log that was changed, says so, and removes old entries of the others', async () => {
    const logs = [await newLog('First'), await newLog('Second'), await newLog('Third')].sort()
    const [, tampered] = logs
    // Not the last one of those that are due.
    const [, row] = await rowsOf(tampered!)
    await change(tampered!, 2, { operation: 'another' })
    for (const id of [tampered!, ...logs.filter(one => one !== tampered)])
      await backdate(id, '2025-01-01T00:00:00.000000Z')
    const doctor = await halyard('doctor')
    expect(doctor.code).toBe(1)
    expect(doctor.output).toContain(`The audit log of ${tampered} was changed, so nothing of it is removed. Entry 2:`)
    const operations = async (id: string) => (await rowsOf(id)).map(({ operation }) => operation)
    await expect
      .poll(() => Promise.all([operations(logs[0]!), operations(logs[2]!)]), { timeout: 60_000 })
      .toEqual([['trim-audit'], ['trim-audit']])
    await expect
      .poll(() => s.process.lines.join('\n'), { timeout: 60_000 })
      .toMatch(new RegExp(`"event":"job_failed".*The audit log of ${tampered} was changed`))
    expect(await rowsOf(tampered!)).toHaveLength(4)
    await change(tampered!, 2, { operation: row!.operation })
    await expect.poll(() => operations(tampered!), { timeout: 60_000 }).toEqual(['trim-audit'])
    expect((await halyard('audit', 'verify')).code).toBe(0)
    expect((await halyard('doctor')).output).toContain('No entry of the audit log that is due for removal was changed.')
  })

  it('lists, exports and names an entry that cannot be read any more', async () => {
    const id = await newLog('Unreadable')
    const [, second] = await rowsOf(id)
    const list = `/api/organizations/${id}/audit_log/`
    for (const content of ['not\nJSON', '5', '{"objects":5}', '{"head":{"sequence":1,"hash":"x"}}', '[{"a":1e999}]']) {
      await change(id, 2, { content })
      const { status, body } = await s.get(`${list}?search=`)
      expect(status).toBe(200)
      const listed: { sequence: number; is_unreadable?: true; operation: string; hash: string }[] = body.results
      expect(listed.map(({ sequence }) => sequence).slice(-4)).toEqual([4, 3, 2, 1])
      expect(listed.filter(entry => entry.is_unreadable)).toMatchObject([
        { sequence: 2, operation: 'unreadable', hash: second!.hash, at: second!.at, objects: [] },
      ])
      const cef = (await s.get(`${list}export/?format=cef`)).text.trim().split('\n')
      expect(cef.slice(0, 4).map(line => /externalId=(\d+)/.exec(line)?.[1])).toEqual(['1', '2', '3', '4'])
      expect(cef[1]).toContain('|unreadable|unreadable|10|')
    }
    for (const args of [[], [await exported(id)]]) {
      const found = await halyard('audit', 'verify', ...args)
      expect(found).toMatchObject({ code: 1, output: expect.stringContaining('Entry 2: ') })
    }
    await change(id, 2, { content: second!.content, at: 'no date' })
    expect((await s.get(list)).status).toBe(200)
    await change(id, 2, second!)
    expect((await halyard('audit', 'verify')).code).toBe(0)
  })
})
