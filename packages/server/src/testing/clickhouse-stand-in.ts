import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What happens to the next requests. `lost`: the rows are stored and the connection ends without a response. */
export type Fault = 'none' | 'refuses' | 'lost' | 'hangs'

export interface ClickHouseStandIn {
  readonly url: string
  readonly inserts: readonly { readonly table: string; readonly rows: readonly Record<string, unknown>[] }[]
  readonly queries: readonly string[]
  fault: Fault
  /** The rows of a query; none unless a test says which. */
  answer: (statement: string) => readonly (readonly unknown[])[]
  /** Sums a column over what a table stores: of rows with the same key, one. */
  total(table: string, column: string): number
  close(): Promise<void>
}

const credentials = `Basic ${Buffer.from('halyard:s%3cret').toString('base64')}`

/**
 * For faults of the transport: stores inserted rows by key as ReplacingMergeTree does, and responds to queries as the test says. What
 * ClickHouse makes of the statements is tested on ClickHouse (`npm run test:clickhouse`).
 */
export async function startClickHouseStandIn(): Promise<ClickHouseStandIn> {
  const inserts: { table: string; rows: Record<string, unknown>[] }[] = []
  const queries: string[] = []
  const state = { fault: 'none' as Fault, answer: (_: string): readonly (readonly unknown[])[] => [] }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    if (state.fault === 'hangs') return
    if (state.fault === 'refuses') return void response.writeHead(500).end('Code: 999, Coordination error')
    if (request.headers.authorization !== credentials) return void response.writeHead(401).end('wrong password')
    const { searchParams } = new URL(request.url ?? '', 'http://stand-in')
    const insert = /^INSERT INTO counts\.(\w+) FORMAT JSONEachRow$/.exec(searchParams.get('query') ?? '')
    if (insert?.[1]) inserts.push({ table: insert[1], rows: body.split('\n').map(line => JSON.parse(line)) })
    else queries.push(body)
    if (state.fault === 'lost' && insert) return void request.socket.destroy()
    response.end(/FORMAT JSONCompact$/.test(body) ? JSON.stringify({ data: state.answer(body) }) : '')
  }

  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `clickhouse://halyard:s%253cret@127.0.0.1:${(server.address() as AddressInfo).port}/counts`,
    inserts,
    queries,
    get fault() {
      return state.fault
    },
    set fault(fault) {
      state.fault = fault
    },
    get answer() {
      return state.answer
    },
    set answer(answer) {
      state.answer = answer
    },
    total(table, column) {
      const rows = inserts.filter(insert => insert.table === table).flatMap(insert => insert.rows)
      const byKey = new Map(rows.map(row => [JSON.stringify({ ...row, [column]: undefined }), Number(row[column])]))
      return [...byKey.values()].reduce((sum, n) => sum + n, 0)
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const personEvents =
  /project = (\d+) AND event = '(.*?)' AND user_hash IN \((.*?)\)\s+AND epoch != (\d+) AND day >= toDate\('(.*?)'\)/

/** What a query of the events of persons finds in the rows that were inserted; no rows for any other query. */
export function answerPersonEvents({ inserts }: Pick<ClickHouseStandIn, 'inserts'>): ClickHouseStandIn['answer'] {
  return statement => {
    const [, project, escaped = '', users = '', epoch, from = ''] = personEvents.exec(statement) ?? []
    if (project === undefined) return []
    const event = escaped.replaceAll("\\'", "'")
    const wanted = new Set(users.split(', ').map(Number))
    const rows = inserts.filter(({ table }) => table === 'person_events_input').flatMap(insert => insert.rows)
    const byKey = new Map<string, { readonly name: string; readonly events: number }>()
    for (const row of rows) {
      const isMeant = String(row.project) === project && row.event === event && String(row.epoch) !== epoch
      if (!isMeant || String(row.day) < from) continue
      for (const user of (row.users as number[]).filter(each => wanted.has(each))) {
        const name = `${user} ${row.day}`
        byKey.set(`${name} ${row.epoch} ${row.block}`, { name, events: Number(row.events) })
      }
    }
    const sums = new Map<string, number>()
    for (const { name, events } of byKey.values()) sums.set(name, (sums.get(name) ?? 0) + events)
    return [...sums].map(([name, events]) => [Number(name.split(' ')[0]), name.split(' ')[1], events])
  }
}
