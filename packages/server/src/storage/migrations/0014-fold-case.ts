import { type Kysely, sql } from 'kysely'
import { dottedI, foldFunction, letterVariants, variantLetters } from '../fold-case.ts'
import { isSqlite } from '../prepared-query.ts'
import type { Tables } from '../tables.generated.ts'
import type { Migration } from './migration.ts'

/** Search folds case for all of Unicode. SQLite has the function from the connection; PostgreSQL has it from here. */
export const foldCase: Migration = {
  version: 14,
  name: 'fold-case',
  async up({ db, run }) {
    if (isSqlite(db as Kysely<Tables>)) return
    const lower = (await hasIcu(db)) ? 'lower(value collate "und-x-icu")' : lowerByTable()
    await run(`
      create or replace function ${foldFunction}(value text) returns text
      language sql immutable strict parallel safe as $$
        select translate(replace(${lower}, '${dottedI}', 'i'), '${letterVariants}', '${variantLetters}') collate "C"
      $$`)
  },
}

// biome-ignore lint/suspicious/noExplicitAny: as in `SchemaBuilder`.
async function hasIcu(db: Kysely<any>): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_collation
    where collname = 'und-x-icu' and collencoding in (-1, (
      select encoding from pg_database where datname = current_database()
    ))`.execute(db)
  return rows.length > 0
}

/** For a PostgreSQL that was built without ICU: slower, since each letter is looked up in a list of all capitals. */
function lowerByTable(): string {
  const capitals: string[] = []
  const letters: string[] = []
  for (let code = 0x80; code < 0x20000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue
    const capital = String.fromCodePoint(code)
    const [letter, ...more] = capital.toLowerCase()
    if (letter === capital || more.length > (letter === 'i' ? 1 : 0)) continue
    capitals.push(capital)
    letters.push(letter!)
  }
  const ascii = 'lower(value collate "C")'
  return `case when octet_length(value) = char_length(value) then ${ascii}
    else translate(${ascii}, '${capitals.join('')}', '${letters.join('')}') end`
}
