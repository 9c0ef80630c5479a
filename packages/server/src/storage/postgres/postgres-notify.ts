import type pg from 'pg'
import { coalesce } from '../../concurrency/coalesce.ts'
import { Mutex } from '../../concurrency/mutex.ts'
import { loadPg } from './load-pg.ts'
import { keepAliveMilliseconds } from './postgres-pool.ts'

const channel = 'halyard_changes'
const messageChannel = 'halyard_messages'
const reconnectMillisecondsMin = 100
const reconnectMillisecondsMax = 5000
const connectMillisecondsMax = 5000
const heartbeatMilliseconds = 5000

export const notifyChanges = async (pool: pg.Pool): Promise<void> => {
  await pool.query(`notify ${channel}`)
}

export interface ChangeChannel {
  /**
   * Notifies the other nodes of a commit on the connection that listens: in the pool it would wait behind other statements. Returns false
   * while there is no such connection.
   */
  notify(): boolean
  /** Sends a text of less than 8,000 bytes to the other nodes, without waiting. Returns as `notify` does. */
  send(message: string): boolean
  close(): Promise<void>
}

interface Listeners {
  readonly onChange: () => void
  readonly onMessage: (message: string) => void
  readonly onError: (error: Error) => void
}

/**
 * Listens for other nodes' commits and messages on a connection of its own and reconnects for as long as it takes. After each
 * connection it wakes the feed, since notifications sent meanwhile are lost; so are messages.
 */
export function listenForChanges(url: string, { onChange, onMessage, onError }: Listeners): ChangeChannel {
  let isClosed = false
  let client: pg.Client | undefined
  let listening: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let heartbeat: NodeJS.Timeout | undefined
  /** One statement at a time: `pg` deprecates queries on a busy client. */
  let statements = new Mutex()
  const notifyOnce = coalesce(async () => {
    const current = client
    if (current && current === listening) await statements.run(() => current.query(`notify ${channel}`))
  })
  let delay = reconnectMillisecondsMin

  async function connect(): Promise<void> {
    const { Client } = loadPg()
    const next = new Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMilliseconds,
      connectionTimeoutMillis: connectMillisecondsMax,
      query_timeout: heartbeatMilliseconds,
      application_name: 'halyard-changes',
    })
    client = next
    statements = new Mutex()
    next.on('error', error => {
      onError(error)
      reconnect(next)
    })
    next.on('end', () => reconnect(next))
    // This node reads its own changes without a notification.
    next.on('notification', ({ processId, channel: from, payload = '' }) => {
      if (processId === ownProcessId(next)) return
      if (from === messageChannel) onMessage(payload)
      else onChange()
    })
    try {
      await next.connect()
      await next.query(`listen ${channel}; listen ${messageChannel}`)
      delay = reconnectMillisecondsMin
      listening = next
      onChange()
      watch(next)
    } catch (error) {
      onError(error as Error)
      reconnect(next)
    }
  }

  /** A connection that was cut silently looks alive until it is used. */
  function watch(watched: pg.Client): void {
    clearInterval(heartbeat)
    heartbeat = setInterval(() => {
      statements
        .run(() => watched.query('select 1'))
        .catch(error => {
          onError(error as Error)
          reconnect(watched)
        })
    }, heartbeatMilliseconds)
    heartbeat.unref()
  }

  function reconnect(lost: pg.Client): void {
    if (isClosed || client !== lost) return
    client = undefined
    clearInterval(heartbeat)
    lost.end().catch(() => {})
    timer = setTimeout(connect, delay)
    timer.unref()
    delay = Math.min(delay * 2, reconnectMillisecondsMax)
  }

  connect()
  return {
    notify() {
      if (!client || client !== listening) return false
      notifyOnce()
      return true
    },
    send(message) {
      const current = client
      if (!current || current !== listening) return false
      // Losing the connection is reported by its own events.
      statements.run(() => current.query('select pg_notify($1, $2)', [messageChannel, message])).catch(() => {})
      return true
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      clearInterval(heartbeat)
      await client?.end().catch(() => {})
    },
  }
}

/** The process of the server that serves this connection; the types of the driver do not name it. */
const ownProcessId = (client: pg.Client): unknown => (client as unknown as { processID: unknown }).processID
