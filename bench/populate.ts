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

const uuidOf = (kind: number) => `printf('00000000-0000-4000-8${String(kind).padStart(3, '0')}-%012x', n.i)`

/** Persons `user-1` and so on, with six properties each. */
export function addPersons(handle: SqliteHandle, projectId: number, count: number): void {
  handle.exec(`${numbers(count)}
    insert into persons (id, project_id, uuid, properties, email, is_identified, distinct_id_count, version, created_at)
    select 1000 + i, ${projectId}, ${uuidOf(1)},
      json_object('country', substr('NOSEDEFRUSJP', 1 + 2 * (i % 6), 2), 'age', 15 + i % 60, 'plan', 'plan-' || (i % 4),
        'email', 'person' || i || '@example.com', 'browser', 'Chrome', 'seats', i % 50),
      'person' || i || '@example.com', 1, 1, 1, '2024-01-01T00:00:00.000000Z' from n`)
  handle.exec(`${numbers(count)}
    insert into person_distinct_ids (project_id, distinct_id, person_id)
    select ${projectId}, 'user-' || i, 1000 + i from n`)
}

/** Adds projects with one flag each; the token of the n-th is `phc_bench` followed by n. */
export function addProjects(handle: SqliteHandle, projectId: number, count: number): void {
  const id = '1000000 + n.i'
  copyRow(handle, 'projects', `id = ${projectId}`, count, { id, uuid: uuidOf(2), api_token: "'phc_bench' || n.i" })
  copyRow(handle, 'flags', `project_id = ${projectId}`, count, { project_id: id })
}

export function addFlags(handle: SqliteHandle, projectId: number, count: number): void {
  copyRow(handle, 'flags', `project_id = ${projectId}`, count, { key: "'more-' || n.i" })
}

/** Adds old changes: flag versions, activity entries and change-log rows. */
export function addHistory(handle: SqliteHandle, projectId: number, count: number): void {
  const [{ id }] = handle.prepare(`select min(id) as id from flags where project_id = ${projectId}`).all() as [Id]
  copyRow(handle, 'flag_versions', `flag_id = ${id}`, count, { version: '1000 + n.i' })
  copyRow(handle, 'activity', `project_id = ${projectId} and scope = 'FeatureFlag'`, count, {
    created_at: "strftime('%Y-%m-%dT%H:%M:%S.000000Z', '2024-01-01', '+' || n.i || ' minutes')",
  })
  const [{ id: head }] = handle.prepare('select max(sequence) as id from changes').all() as [Id]
  copyRow(handle, 'changes', `sequence = ${head}`, count, { sequence: `${head} + n.i` })
  handle.exec(`update change_head set sequence = ${head + count}`)
}

interface Id {
  readonly id: number
}
