import { migrate } from '../migrations/migrate.ts'
import type { Migration } from '../migrations/migration.ts'
import { openStorage } from '../open-storage.ts'

export interface ColumnValue {
  readonly type: string
  readonly isNullable: boolean
}

/** As much of a table as is needed to move its rows. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  /** What each column holds, by its name. */
  readonly values: ReadonlyMap<string, ColumnValue>
  /** The columns of the primary key, in their order. */
  readonly key: readonly string[]
  /** Its `id` is generated. */
  readonly isNumbered: boolean
  readonly references: readonly { readonly column: string; readonly table: string; readonly to: string }[]
}

/** Not data, or gone within a day: each database keeps its own. */
const ownOfEachDatabase = new Set(['schema_migrations', 'import_plans', 'import_plan_items'])

/** References that the code keeps right instead of the database, since to check them for each row costs too much. */
const uncheckedReferences: Readonly<Record<string, TableShape['references']>> = {
  person_event_days: [
    { column: 'person_id', table: 'persons', to: 'id' },
    { column: 'event_id', table: 'counted_events', to: 'id' },
  ],
}

/**
 * Every table, each after those that it refers to. Read from an empty database that the migrations have just made, so that a new table
 * is moved automatically.
 */
export async function tableShapes(steps?: readonly Migration[]): Promise<readonly TableShape[]> {
  const storage = openStorage('sqlite::memory:')
  try {
    await migrate(storage.kysely, storage.dialect, { steps })
    const handle = storage.sqlite!.handle
    const ask = <T>(sql: string): T[] => handle.prepare(sql).all() as T[]
    const names = ask<{ name: string; sql: string }>(
      `select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`,
    )
    const shapes = names
      .filter(({ name }) => !ownOfEachDatabase.has(name))
      .map(({ name, sql }) => {
        const columns = ask<{ name: string; type: string; notnull: number; pk: number }>(`pragma table_info("${name}")`)
        const keys = ask<{ from: string; table: string; to: string | null }>(`pragma foreign_key_list("${name}")`)
        const key = columns
          .filter(({ pk }) => pk > 0)
          .sort((a, b) => a.pk - b.pk)
          .map(column => column.name)
        if (key.length === 0)
          throw new Error(`The table ${name} has no primary key: its rows cannot be moved in pages.`)
        return {
          name,
          columns: columns.map(column => column.name),
          values: new Map(
            columns.map(({ name, type, notnull, pk }) => [
              name,
              { type: type.toLowerCase(), isNullable: !notnull && !pk },
            ]),
          ),
          key,
          isNumbered: /autoincrement/i.test(sql),
          references: [
            ...keys.map(({ from, table, to }) => ({ column: from, table, to: to ?? 'id' })),
            ...(uncheckedReferences[name] ?? []),
          ],
        }
      })
    return inOrderOfReference(shapes)
  } finally {
    await storage.close()
  }
}

function inOrderOfReference(shapes: readonly TableShape[]): readonly TableShape[] {
  const ordered: TableShape[] = []
  const placed = new Set<string>()
  while (ordered.length < shapes.length) {
    const next = shapes.filter(
      shape =>
        !placed.has(shape.name) && shape.references.every(({ table }) => table === shape.name || placed.has(table)),
    )
    if (next.length === 0) throw new Error('Tables refer to each other in a circle.')
    for (const shape of next) {
      ordered.push(shape)
      placed.add(shape.name)
    }
  }
  return ordered
}
