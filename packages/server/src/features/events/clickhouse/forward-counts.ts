import type { Job, JobContext } from '../../../jobs/job-runner.ts'
import { newUuid } from '../../identity/secret.ts'
import type { BacklogMonitor } from './backlog-monitor.ts'
import { type ClickHouseClient, ClickHouseError } from './clickhouse-client.ts'
import { rowsOfBlock } from './count-block.ts'
import { type Schema, tables } from './schema.ts'

const blockLimits = { batchesMax: 1000, bytesMax: 8 * 1024 ** 2 }

interface Deps {
  readonly client: ClickHouseClient
  readonly schema: Schema
  readonly monitor: BacklogMonitor
  readonly log: Record<'info' | 'warn', (details: object, message: string) => void>
}

/**
 * Sends what waits in the backlog, block by block. A block is removed after ClickHouse has stored it; if that is unknown, the same block is
 * sent again, by this node or by the next that holds the lease, and replaces itself.
 */
export function forwardCounts({ client, schema, monitor, log }: Deps): Job {
  let isFailing = false

  async function forwardNext({ read, transaction }: JobContext): Promise<boolean> {
    const block = await transaction(tx => tx.eventBacklog.seal(newUuid(), blockLimits))
    if (block === undefined) return false
    const rows = rowsOfBlock(block, await read(tx => tx.eventBacklog.readBlock(block)))
    await client.insert(tables.usage, rows.usage)
    await client.insert(tables.usersInput, rows.users)
    await client.insert(tables.minutes, rows.minutes)
    await client.insert(tables.personEventsInput, rows.performed)
    await transaction(tx => tx.eventBacklog.removeBlock(block))
    monitor.noteForwarded()
    return true
  }

  async function forwardAll(context: JobContext): Promise<void> {
    await schema.ensure()
    if (await context.read(tx => tx.eventBacklog.isEmpty())) return
    while (!context.isStopping() && (await forwardNext(context))) if (isFailing) noteRecovered()
    await monitor.refresh()
  }

  function noteRecovered(): void {
    isFailing = false
    log.info({ event: 'events_forwarded_again' }, 'ClickHouse stores counts again')
  }

  return {
    name: 'forward-counts',
    async run(context) {
      try {
        await forwardAll(context)
      } catch (error) {
        if (!(error instanceof ClickHouseError)) throw error
        monitor.noteFailed()
        await monitor.refresh()
        // An outage is logged once; how long it lasts is in the metrics.
        if (!isFailing) {
          log.warn(
            { event: 'events_forward_failed', err: error },
            'ClickHouse does not store counts; they wait in the database',
          )
        }
        isFailing = true
      }
    },
  }
}
