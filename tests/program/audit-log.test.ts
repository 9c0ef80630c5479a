import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

  it('sets damage aside that an operator accepts, names it for ever, and goes on', async () => {
    const id = await newLog('Damaged')
    const log = `/api/organizations/${id}`
    for (const suffix of ['D', 'E', 'F']) await s.patch(`${log}/`, { name: suffix })
    const setAside = (file: string, reason = 'A migration went wrong.') =>
      halyard('audit', 'set-aside', id, '--to', join(folder, file), '--reason', reason)
    expect(await setAside('intact')).toMatchObject({ code: 1, output: expect.stringContaining('is intact') })
    const remove = (sequence: number) =>
      writeDirectly(storage, db =>
        db.deleteFrom('audit_entries').where('organization_id', '=', id).where('sequence', '=', sequence).execute(),
      )
    const [, second] = await rowsOf(id)
    await change(id, 2, { content: second!.content.replace('Damaged', 'Dammaged') })
    await remove(3)
    await change(id, 5, { operation: 'hidden' })
    expect(await setAside('unexplained', ' ')).toMatchObject({ code: 2 })
    const done = await setAside('first.jsonl')
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining('Moved the entries up to 5') })
    expect(existsSync(join(folder, 'unexplained'))).toBe(false)
    expect((await rowsOf(id)).map(({ sequence }) => sequence)).toEqual([6, 7, 8])
    const evidence = await halyard('audit', 'verify', join(folder, 'first.jsonl'))
    expect(evidence.code).toBe(1)
    expect(evidence.output).toContain('Entry 2: Its content was changed.')
    expect(evidence.output).toContain('Entry 3: Entry 4 is in its place.')

    expect((await s.patch(`${log}/`, { name: 'Later' })).status).toBe(200)
    const { checkpoint_key: key } = (await s.get(`${log}/audit_log/head/`)).body
    const accepted = 'Entry 8: Damage up to entry 5 was set aside'
    for (const args of [[], [await exported(id), '--key', key]])
      expect(await halyard('audit', 'verify', ...args)).toMatchObject({
        code: 0,
        output: expect.stringMatching(new RegExp(`${accepted} at .*, because: A migration went wrong\\.`)),
      })
    const sha256OfFile = sha256(readFileSync(join(folder, 'first.jsonl'), 'utf8'))
    const { results } = (await s.get(`${log}/audit_log/?operation=set-aside-audit-log`)).body
    expect(results).toMatchObject([
      {
        ...{ actor: null, credential: { kind: 'command_line' }, note: 'A migration went wrong.' },
        objects: [
          {
            name: '#1–#5',
            changes: [
              { field: '#2', before: expect.stringContaining('Its content was changed.') },
              { field: '#3', before: expect.stringContaining('Entry 4 is in its place.') },
              { field: '#5', before: 'Its column `operation` does not match its content.' },
            ],
            trigger: { file_sha256: sha256OfFile },
          },
        ],
      },
    ])

    // New damage is reported, also at the end of the log.
    const end = (await rowsOf(id)).at(-1)!
    await remove(end.sequence)
    const found = await halyard('audit', 'verify')
    expect(found.code).toBe(1)
    expect(found.output).toContain(accepted)
    expect(found.output).toContain(`Entry ${end.sequence}: The export is cut off here`)
    expect((await setAside('second.jsonl')).output).toContain(`Moved the entries up to ${end.sequence}`)
    const again = await halyard('audit', 'verify')
    expect(again.code).toBe(0)
    // The entry about the first damage went along.
    for (const text of [accepted, `Damage up to entry ${end.sequence} was set aside`])
      expect(again.output).toContain(text)
  })
})
