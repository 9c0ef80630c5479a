import pg from 'pg'
import { type Installation, storePersons } from '../installation.ts'
import { populate } from '../populate.ts'

/**
 * Writes persons directly to the store, because millions of them over the API would take days. Rows are copies of one that the server wrote,
 * so they follow the current schema. The server has to be stopped for SQLite.
 */
export async function addPersons(databaseUrl: string, projectId: number, from: number, to: number): Promise<void> {
  const numbers = `select i from numbers`
  if (databaseUrl.startsWith('sqlite:')) {
    populate(databaseUrl, handle => {
      const columnsOf = (table: string) =>
        (handle.prepare(`pragma table_info(${table})`).all() as { name: string }[]).map(({ name }) => name)
      const series = `with recursive numbers(i) as (select ${from} union all select i + 1 from numbers where i < ${to - 1})`
      for (const statement of statements(columnsOf, projectId, numbers)) handle.exec(`${series} ${statement}`)
    })
    return
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ table_name: string; column_name: string }>(
      'select table_name, column_name from information_schema.columns where table_schema = current_schema()',
    )
    const columnsOf = (table: string) =>
      rows.filter(({ table_name }) => table_name === table).map(({ column_name }) => column_name)
    const series = `with numbers as (select generate_series(${from}::bigint, ${to - 1}::bigint) as i)`
    for (const statement of statements(columnsOf, projectId, numbers)) await client.query(`${series} ${statement}`)
    await client.query('analyze')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

/** The person that is copied; its number is none of the others'. */
export const storeFirstPerson = (installation: Installation): Promise<void> => storePersons(installation, 1)

/** As `distinctIdOf` computes it. Inserted in its own order, as an index of random ids is written fastest. */
const distinctId = `'p-' || cast((i * 2654435761) % 4294967296 as text)`
/** Far above the ids that the server gives until then. */
const personId = '1000000 + i'

const properties = [
  `'{"country":"' || substr('NOSEDEFRUSJP', 1 + cast((i % 6) * 2 as integer), 2)`,
  `'","plan":"' || case i % 4 when 0 then 'free' when 1 then 'pro' when 2 then 'team' else 'enterprise' end`,
  `'","age":' || cast(15 + i % 60 as text)`,
  `',"email":"person' || cast(i as text) || '@example.com"'`,
  `',"version":"' || cast(i % 4 as text) || '.' || cast(i % 9 as text) || '.0"'`,
  `',"joined":"2023-0' || cast(1 + i % 9 as text) || '-11T08:00:00Z"'`,
  `',"browser":"' || case i % 3 when 0 then 'Chrome' when 1 then 'Safari' else 'Firefox' end`,
  `'","os":"' || case i % 3 when 0 then 'macOS' when 1 then 'Windows' else 'Linux' end`,
  `'","beta":' || case i % 7 when 0 then 'true' else 'false' end`,
  `',"seats":' || cast(i % 50 as text) || '}'`,
].join(' || ')

function statements(columnsOf: (table: string) => string[], projectId: number, numbers: string): string[] {
  const copy = (table: string, values: Readonly<Record<string, string>>, order = '') => {
    const columns = columnsOf(table)
    const selected = columns.map(name => values[name] ?? `t.${name}`)
    return `insert into ${table} (${columns.join(', ')}) select ${selected.join(', ')}
      from (${numbers}) as n, (select * from ${table} where project_id = ${projectId} limit 1) as t where true ${order}`
  }
  return [
    copy('persons', {
      id: personId,
      uuid: `'00000000-0000-7000-8000-' || cast(100000000000 + i as text)`,
      properties,
      email: `'person' || cast(i as text) || '@example.com'`,
    }),
    copy('person_distinct_ids', { distinct_id: distinctId, person_id: personId }, `order by ${distinctId}`),
  ]
}
