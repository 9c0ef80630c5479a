import { openSqlite, type SqliteHandle } from '../packages/server/src/storage/sqlite/sqlite-connection.ts'

/**
 * Writes rows directly to the database file, because creating a million of them over the API would take an hour. Rows are copies of one
 * that the server wrote, so they follow the current schema.
 */
export function populate(databaseUrl: string, work: (handle: SqliteHandle) => void): void {
  const handle = openSqlite(databaseUrl.slice('sqlite:'.length))
  handle.exec('begin')
  work(handle)
  handle.exec('commit')
  handle.close()
}

/** `i` runs from 1 to the count. */
const numbers = (count: number): string =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`

/** Copies the first matching row of a table with other values in some columns; `n.i` is the number of the copy. */
function copyRow(
  handle: SqliteHandle,
  table: string,
  where: string,
  count: number,
  values: Readonly<Record<string, string>>,
): void {
  const columns = (handle.prepare(`pragma table_info(${table})`).all() as { name: string }[]).map(({ name }) => name)
  const copied = columns.filter(name => name !== 'id' || name in values)
  handle.exec(`${numbers(count)}
    insert into ${table} (${copied.join(', ')})
    select ${copied.map(name => values[name] ?? `t.${name}`).join(', ')}
    from (select * from ${table} where ${where} limit 1) t, n`)
}

export function addFlags(handle: SqliteHandle, projectId: number, count: number): void {
  copyRow(handle, 'flags', `project_id = ${projectId}`, count, { key: "'more-' || n.i" })
}
