import { Semaphore } from '../../../concurrency/semaphore.ts'
import type { EventsUrl } from '../../../settings/events-url.ts'

/** A response of ClickHouse as rows of columns. Numbers above 2^53 arrive as strings. */
export type Rows = readonly (readonly unknown[])[]

export class ClickHouseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClickHouseError'
  }
}

export interface ClickHouseClient {
  readonly url: EventsUrl
  /** Reads from the first server that responds, within the deadline for all of them. */
  query(statement: string, millisecondsMax: number): Promise<Rows>
  /** Resolves when one server, and as many as the quorum demands, has stored the rows. After an error they may be stored or not. */
  insert(table: string, rows: readonly object[]): Promise<void>
  /** Executes a statement on this server. */
  execute(origin: string, statement: string): Promise<void>
}

const insertMillisecondsMax = 15_000
const errorCharactersMax = 300
const queriesAtOnceMax = 16
const queriesWaitingMax = 200

/**
 * ClickHouse over HTTP, with what servers from 18.16 on understand: no parameters in statements and no settings within them. Starts with
 * the server that responded last.
 */
export function createClickHouseClient(url: EventsUrl): ClickHouseClient {
  const { origins, user, password, database, quorum } = url
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const queries = new Semaphore({
    permits: queriesAtOnceMax,
    queueMax: queriesWaitingMax,
    waitMillisecondsMax: insertMillisecondsMax,
    message: 'Too many queries are waiting for ClickHouse. Try again.',
  })
  let preferred = 0

  async function send(origin: string, parameters: Record<string, string>, body: string, millisecondsMax: number) {
    const address = `${origin}/?${new URLSearchParams({ wait_end_of_query: '1', ...parameters })}`
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: { authorization },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(millisecondsMax),
      })
      const text = await response.text()
      if (response.ok) return text
      throw new ClickHouseError(`${origin} returned ${response.status}: ${text.slice(0, errorCharactersMax).trim()}`)
    } catch (error) {
      if (error instanceof ClickHouseError) throw error
      const { message, cause } = error as Error
      const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
      throw new ClickHouseError(`${origin} does not respond: ${reason}`, { cause: error })
    }
  }

  /** Each server gets an equal share of the time that is left. */
  async function onAnyServer<T>(
    millisecondsMax: number,
    work: (origin: string, millisecondsMax: number) => Promise<T>,
  ): Promise<T> {
    const end = performance.now() + millisecondsMax
    const first = preferred
    const failures: string[] = []
    for (let n = 0; n < origins.length; n++) {
      const position = (first + n) % origins.length
      const share = Math.max(1, Math.floor((end - performance.now()) / (origins.length - n)))
      try {
        const result = await work(origins[position] as string, share)
        preferred = position
        return result
      } catch (error) {
        failures.push((error as Error).message)
      }
    }
    throw new ClickHouseError(failures.join('; '))
  }

  return {
    url,
    query: (statement, millisecondsMax) =>
      queries.run(() =>
        onAnyServer(millisecondsMax, async (origin, share) => {
          const seconds = String(Math.ceil(share / 1000))
          const settings = { max_execution_time: seconds, output_format_json_quote_64bit_integers: '0' }
          const text = await send(origin, settings, `${statement} FORMAT JSONCompact`, share)
          return (JSON.parse(text) as { data: Rows }).data
        }),
      ),
    async insert(table, rows) {
      if (rows.length === 0) return
      const body = rows.map(row => JSON.stringify(row)).join('\n')
      const parameters = {
        query: `INSERT INTO ${database}.${table} FORMAT JSONEachRow`,
        ...(quorum > 1 && { insert_quorum: String(quorum) }),
      }
      await onAnyServer(insertMillisecondsMax * origins.length, (origin, share) =>
        send(origin, parameters, body, share),
      )
    },
    async execute(origin, statement) {
      await send(origin, {}, statement, insertMillisecondsMax)
    },
  }
}

/** A string literal. ClickHouse has known these escape sequences since its first release. */
export const literal = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
