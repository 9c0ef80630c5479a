import { Gauge, type Registry } from 'prom-client'

interface Head {
  readonly organizationId: string
  readonly sequence: number
  readonly hash: string
}

const refreshMilliseconds = 10_000
const organizationsMax = 100

/** The heads of the audit logs, so that a monitoring system keeps a copy that the server cannot change. Organizations are named by id. */
export function watchAuditHeads(registry: Registry, read: () => Promise<readonly Head[]>): void {
  let heads: readonly Head[] = []
  let readAt = Number.NEGATIVE_INFINITY
  /** Reads in the background, so that a scrape never waits for the database. */
  const current = () => {
    if (performance.now() - readAt > refreshMilliseconds) {
      readAt = performance.now()
      read().then(
        next => {
          heads = next.slice(0, organizationsMax)
        },
        () => {},
      )
    }
    return heads
  }
  current()
  const gauge = (name: string, help: string, aggregator: 'max' | 'first', numberOf: (head: Head) => number) =>
    new Gauge({
      name,
      help,
      aggregator,
      labelNames: ['organization'],
      registers: [registry],
      collect() {
        this.reset()
        for (const head of current()) this.set({ organization: head.organizationId }, numberOf(head))
      },
    })
  gauge(
    'halyard_audit_log_sequence',
    'Newest entry of the audit log by organization, of at most 100.',
    'max',
    ({ sequence }) => sequence,
  )
  gauge(
    'halyard_audit_log_head',
    'The first 12 hexadecimal digits of the hash of the newest entry, as a number.',
    'first',
    ({ hash }) => Number.parseInt(hash.slice(0, 12), 16),
  )
}
