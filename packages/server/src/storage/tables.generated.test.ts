import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../testing/databases.ts'
import type { DialectName } from './migrations/migration.ts'
import { openStorage } from './open-storage.ts'

/** `tables.generated.ts` is made from the migrated schema: `npm run tables` writes it, and here it is held equal. */

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  /** An insert may leave it out. */
  readonly hasDefault: boolean
}

const typeOf: Readonly<Record<string, string>> = {
  integer: 'number',
  bigint: 'number',
  real: 'number',
  'double precision': 'number',
  text: 'string',
}

const columnQueries: Readonly<Record<DialectName, string>> = {
  sqlite: `
    select tables.name as "table", columns.name, lower(columns.type) as type,
      columns."notnull" = 0 and columns.pk = 0 as "isNullable",
      columns.dflt_value is not null or (columns.pk = 1 and tables.sql like '%autoincrement%') as "hasDefault"
    from sqlite_master as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and tables.name not like 'sqlite_%' order by tables.name, columns.cid`,
  postgres: `
    select table_name::text collate "C" as "table", column_name as name, data_type as type,
      is_nullable = 'YES' as "isNullable", column_default is not null or is_identity = 'YES' as "hasDefault"
    from information_schema.columns where table_schema = current_schema() order by 1, ordinal_position`,
}

async function readColumns(dialect: DialectName): Promise<readonly Column[]> {
  const database = await createTestDatabase(dialect)
  const storage = openStorage(database.url)
  try {
    return (await sql.raw<Column>(columnQueries[dialect]).execute(storage.kysely)).rows
  } finally {
    await storage.close()
    await database.drop()
  }
}

function declare({ name, type, isNullable, hasDefault }: Column): string {
  const value = `${typeOf[type] ?? expect.fail(`no type for ${type}`)}${isNullable ? ' | null' : ''}`
  return `    ${name}: ${hasDefault ? `Generated<${value}>` : value}\n`
}

function typesOf(columns: readonly Column[]): string {
  const tables = [...new Set(columns.map(({ table }) => table))].map(table => {
    const declared = columns.filter(column => column.table === table).map(declare)
    return `  ${table}: {\n${declared.join('')}  }\n`
  })
  return `// Written by \`npm run tables\` from the migrated schema. Do not edit.
import type { Generated } from 'kysely'

/**
 * The rows as they are stored. Portable columns throughout (ADR 2): integer booleans, JSON as text, instants as text that sorts.
 * Only \`*.sql.ts\` files read this; they turn rows into domain values and back.
 */
export interface Tables {
${tables.join('')}}
`
}

onEachDatabase('the types of rows', dialect => {
  it('equal the migrated schema', async () => {
    const types = typesOf(await readColumns(dialect))
    await expect(types).toMatchFileSnapshot(join(import.meta.dirname, 'tables.generated.ts'))
  })
})
