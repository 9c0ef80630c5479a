import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DialectName } from '../packages/server/src/storage/migrations/migration.ts'
import { openStorage, type Storage } from '../packages/server/src/storage/open-storage.ts'
import { exportData } from '../packages/server/src/storage/transfer/export-data.ts'
import { importData } from '../packages/server/src/storage/transfer/import-data.ts'
import { ImportError } from '../packages/server/src/storage/transfer/read-export.ts'
import { fingerprint } from '../packages/server/src/storage/transfer/rows.ts'
import { tableShapes } from '../packages/server/src/storage/transfer/table-shapes.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../packages/server/src/testing/databases.ts'
import { startScenario } from '../packages/server/src/testing/scenario.ts'
import { runCommand } from './faults/server-process.ts'

interface Line {
  table: string
  row: Record<string, unknown>
  json?: Record<string, unknown>
  end: { rows: number }
}
type Edit = (lines: Line[], flag: Line, number: number) => unknown

const last = (lines: Line[]): Line => lines.at(-1)!
const withOneMore = (lines: Line[], index: number, line: unknown) => {
  lines.splice(index, 0, line as Line)
  last(lines).end.rows += 1
}

/** `flag` is the first row of the table of flags, at `number`, and `N` is its line. */
const edits: readonly (readonly [what: string, edit: Edit, message: string])[] = [
  ['a number instead of a string', (_, { row }) => (row.key = 5), 'Line N: flags.key must be a string.'],
  [
    'a string instead of a number',
    (_, { row }) => (row.version = '1'),
    'Line N: flags.version must be a whole number.',
  ],
  [
    'a number that is too large',
    (_, { row }) => (row.version = 1e300),
    'Line N: flags.version must be a whole number.',
  ],
  ['null where a value is needed', (_, { row }) => (row.name = null), 'Line N: flags.name must be a string.'],
  ['an id below 1', (_, { row }) => (row.id = 0), 'Line N: flags.id must be at least 1.'],
  ['a missing column', (_, { row }) => delete row.created_at, 'Line N: flags.created_at is missing.'],
  ['an unknown column', (_, { row }) => (row.shade = 'red'), 'Line N: flags.shade is not a column'],
  [
    'no object for JSON',
    (_, { json }) => (json!.filters = 5),
    'Line N: flags.filters in `json` must be an object or a list',
  ],
  ['a column twice', (_, { row }) => (row.filters = '{}'), 'Line N: flags.filters is in `row` and in `json`.'],
  ['an unknown table', (_, flag) => (flag.table = 'banners'), 'Line N: The table "banners" is not known'],
  [
    'a list instead of a row',
    (_, flag) => (flag.row = [] as never),
    'Line N: `row` and `json` of a row of flags must be objects.',
  ],
  ['a line that is a list', (lines, _, n) => (lines[n] = [] as never), 'Line N: It is not a JSON object'],
  [
    'an unknown project',
    (_, { row }) => (row.project_id = 990),
    'Line N: flags.project_id names a row of projects that is not there: 990.',
  ],
  [
    'an unknown person',
    (_, { row }) => (row.created_by_id = 990),
    'Line N: flags.created_by_id names a row of users that is not there: 990.',
  ],
  [
    'the same id twice',
    (lines, flag, n) => withOneMore(lines, n, { ...flag, row: { ...flag.row, key: 'b' } }),
    'Line N+1: Another row of flags has the same id.',
  ],
  [
    'the same key twice',
    (lines, flag, n) => withOneMore(lines, n, { ...flag, row: { ...flag.row, id: 9_000 } }),
    'Line N+1: Another row of flags has the same project_id, key.',
  ],
  ['a wrong count', lines => (last(lines).end.rows += 1), 'The export is not complete'],
  ['an end without a count', lines => (last(lines).end = null as never), 'The export is not complete'],
  ['a line after the end', (lines, flag) => lines.push(flag), 'There is a line after the end.'],
  [
    'a header of another schema',
    lines => Object.assign(lines[0]!, { schema_version: 'new' }),
    'The export has schema version new',
  ],
  ['no header', lines => lines.shift(), 'The file is no export of Halyard'],
]

const renamed = new Set([
  'a number instead of a string',
  'an unknown project',
  'an unknown person',
  'the same id twice',
])
const noJson: (typeof edits)[number] = [
  'text that is no JSON',
  (_, { row, json }) => {
    delete json!.filters
    row.filters = '{'
  },
  'Line N: flags.filters has not the shape',
]

onEachDatabase('a hand-edited export', dialect => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-edited-'))
  const made: TestDatabase[] = []
  const exports: Record<'all' | 'project', string> = { all: '', project: '' }
  let empty: Storage
  let used: Storage
  const urls: Record<'all' | 'project', string> = { all: '', project: '' }
  const open = async (kind: DialectName): Promise<[TestDatabase, Storage]> => {
    const database = await createTestDatabase(kind)
    made.push(database)
    return [database, openStorage(database.url)]
  }
  beforeAll(async () => {
    const source = await startScenario(dialect)
    for (const key of ['a', 'c']) await source.post(`${source.project}/feature_flags/`, { key })
    for (const [kind, id] of [
      ['all', undefined],
      ['project', source.projectId],
    ] as const) {
      const lines: string[] = []
      await exportData(source.halyard.storage, async line => void lines.push(line.trimEnd()), id)
      exports[kind] = lines.join('\n')
    }
    await source.close()
    const [emptyDatabase, usedDatabase] = [await open(dialect), await open(dialect)]
    empty = emptyDatabase[1]
    used = usedDatabase[1]
    urls.all = emptyDatabase[0].url
    urls.project = usedDatabase[0].url
    await (await startScenario(dialect, { databaseUrl: urls.project })).close()
  })
  afterAll(async () => {
    for (const storage of [empty, used]) await storage.close()
    for (const database of made) await database.drop()
    rmSync(folder, { recursive: true })
  })

  async function* linesOf(text: string) {
    yield* text.split('\n')
  }
  const bring = (storage: Storage, text: string, finish = async () => {}) =>
    importData(storage, () => linesOf(text), {
      organization: undefined,
      name: undefined,
      isDryRun: false,
      onProgress: () => {},
      finish,
      findCredentials: async () => ({
        newUuid: randomUUID,
        newToken: () => `phc_${randomUUID()}`,
        newSecretKey: () => ({ id: randomUUID(), value: '', hash: '', mask: '' }),
        moveSecrets: () => undefined,
        canOpenPluginToken: () => false,
      }),
    })
  let shapes: Awaited<ReturnType<typeof tableShapes>> | undefined
  const contentOf = async (storage: Storage) => {
    shapes ??= await tableShapes()
    const content: unknown[] = []
    for (const shape of shapes) content.push([shape.name, await fingerprint(storage.kysely, shape)])
    return content
  }
  function edited(text: string, edit: Edit): { text: string; line: number } {
    const lines: Line[] = text.split('\n').map(line => JSON.parse(line))
    const number = lines.findIndex(({ table }) => table === 'flags')
    edit(lines, lines[number]!, number)
    return { text: lines.map(line => JSON.stringify(line)).join('\n'), line: number + 1 }
  }

  /** Until the function that it returns is called. */
  async function refuseEntriesOfImports({ kysely }: Storage): Promise<() => Promise<void>> {
    const run = async (...statements: string[]) => {
      for (const statement of statements) await sql.raw(statement).execute(kysely)
    }
    const when = "when (new.operation in ('import', 'restore'))"
    if (dialect === 'sqlite') {
      await run(`create trigger refuse before insert on audit_entries ${when} begin select raise(abort, 'full'); end`)
      return () => run('drop trigger refuse')
    }
    await run(
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'full'; end $$",
      `create trigger refuse before insert on audit_entries for each row ${when} execute function refuse()`,
    )
    return () => run('drop trigger refuse on audit_entries', 'drop function refuse')
  }

  it.each([['all'], ['project']] as const)(
    'of %s is refused with the line and the field, and changes nothing',
    async kind => {
      const storage = kind === 'all' ? empty : used
      const before = await contentOf(storage)
      // What is read is checked alike; what is renamed on its way into a project in use is not.
      const someEdits = kind === 'all' ? edits : [...edits.filter(([what]) => renamed.has(what)), noJson]
      for (const [what, edit, message] of someEdits) {
        const { text, line } = edited(exports[kind], edit)
        const expected = message.replace('N+1', String(line + 1)).replace('Line N:', `Line ${line}:`)
        const error = await bring(storage, text).then(
          () => undefined,
          thrown => thrown,
        )
        expect(error, what).toBeInstanceOf(ImportError)
        expect(error.message, what).toContain(expected)
      }
      expect(await contentOf(storage)).toEqual(before)
    },
    120_000,
  )

  it('is not imported without the end of its sign-ins', async () => {
    const before = await contentOf(empty)
    await expect(bring(empty, exports.all, () => Promise.reject(new Error('not ended')))).rejects.toThrow('not ended')
    expect(await contentOf(empty)).toEqual(before)
  })

  it.each([['all'], ['project']] as const)(
    'of %s is not imported by the built program when its own entry in the audit log fails',
    async kind => {
      const storage = kind === 'all' ? empty : used
      const before = await contentOf(storage)
      const file = join(folder, `${kind}-without-entry.jsonl`)
      writeFileSync(file, exports[kind])
      const accept = await refuseEntriesOfImports(storage)
      const { code } = await runCommand(['import', file], { DATABASE_URL: urls[kind], LOG_LEVEL: 'silent' })
      await accept()
      expect(code).toBe(1)
      expect(await contentOf(storage)).toEqual(before)
    },
  )

  it.each([['all'], ['project']] as const)(
    'of %s is refused by the built program, also when it was cut off',
    async kind => {
      const before = await contentOf(kind === 'all' ? empty : used)
      const file = join(folder, `${kind}.jsonl`)
      const refuse = async (text: string, message: RegExp) => {
        writeFileSync(file, text)
        const { code, output } = await runCommand(['import', file], { DATABASE_URL: urls[kind], LOG_LEVEL: 'silent' })
        expect([code, output]).toEqual([1, expect.stringMatching(message)])
        expect(output).not.toMatch(/\n {4}at /)
      }
      await refuse(
        exports[kind].slice(0, -200),
        /^halyard: Line \d+: It is not a JSON object: the export was changed or cut off. Nothing was imported.$/m,
      )
      await refuse(
        exports[kind].slice(0, exports[kind].lastIndexOf('\n')),
        /^halyard: The export is not complete: it has \d+ rows and should have an end. Nothing was imported.$/m,
      )
      const { text, line } = edited(exports[kind], (_, { row }) => (row.project_id = 990))
      await refuse(
        text,
        new RegExp(
          `^halyard: Line ${line}: flags.project_id names a row of projects that is not there: 990. Nothing was imported.$`,
          'm',
        ),
      )
      expect(await contentOf(kind === 'all' ? empty : used)).toEqual(before)
      expect((await bring(kind === 'all' ? empty : used, exports[kind])).rows).toBeGreaterThan(0)
    },
    120_000,
  )
})
