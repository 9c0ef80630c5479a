import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Figure, Size } from '../measure.ts'
import type { Row } from '../row.ts'

const clients = fileURLToPath(new URL('../../tests/load/overload-clients.mjs', import.meta.url))

const amounts: Readonly<Record<Size['name'], { readonly connections: number; readonly seconds: number }>> = {
  full: { connections: 1000, seconds: 20 },
  smoke: { connections: 300, seconds: 5 },
  tiny: { connections: 20, seconds: 1 },
}
const inFlight = 4
const burst = 60
const flagCount = 100

/** What `overload-clients.mjs` prints; a quantile is `none` when a client got no response. */
interface Report {
  readonly statuses: Readonly<Record<string, number>>
  readonly responses: number
  readonly neverAnswered: number
  readonly firstResponseMillisecondsMax: number | 'none'
  /** Single probes while clients connect, and after each has had a response. */
  readonly connecting: Quantiles
  readonly busy: Quantiles
  readonly late: Readonly<Record<'p50' | 'p99', number | 'none'>>
}

type Quantiles = Readonly<Record<'p50' | 'p99' | 'max', number | 'none'>> & { readonly count: number }

/** Health probes on new connections while all keep-alive connections are busy. */
export const overload: Row = async ({ size, installations, log }) => {
  const figures: Figure[] = []
  for (const workers of [1, 2]) {
    const { databaseUrl, token } = await installations.copy(flagCount)
    const server = await installations.open(databaseUrl, { HALYARD_WORKERS: String(workers) })
    const { connections, seconds } = amounts[size.name]
    const options = {
      ...{ port: server.port, token, connections, inFlight, seconds, probes: burst },
      ...{ firstResponseSecondsMax: 5, patienceSeconds: 30, probeIntervalMilliseconds: 25 },
    }
    const { stdout } = await promisify(execFile)(process.execPath, [clients, JSON.stringify(options)])
    await server.stop()
    log(`  ${workers} worker(s): ${stdout.trim()}`)
    figures.push(...figuresOf(JSON.parse(stdout) as Report, `${connections} busy connections, ${workers} worker(s)`))
  }
  return figures
}

const milliseconds = (value: number | 'none'): number => (value === 'none' ? Number.POSITIVE_INFINITY : value)

function figuresOf({ statuses, responses, connecting, busy, late, ...report }: Report, name: string): Figure[] {
  const shed = ((statuses['503'] ?? 0) / Math.max(1, responses)) * 100
  const noteOf = ({ p50, max, count }: Quantiles) => `p50 ${p50} ms, max ${max} ms, ${count} probes`
  const probe = `GET /_livez, ${name}`
  return [
    { measure: `${probe}: p99`, value: milliseconds(busy.p99), unit: 'ms', atMost: 250, note: noteOf(busy) },
    {
      measure: `${probe}: p99 of ${burst} at once`,
      value: milliseconds(late.p99),
      unit: 'ms',
      note: `p50 ${late.p50} ms`,
    },
    {
      measure: `longest wait for a first response, ${name}`,
      value: milliseconds(report.firstResponseMillisecondsMax),
      unit: 'ms',
      atMost: 5000,
      note: `${report.neverAnswered} without one; probes meanwhile: ${noteOf(connecting)}`,
    },
    { measure: `responses with 503, ${name}`, value: shed, unit: '%' },
  ]
}
