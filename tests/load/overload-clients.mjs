// Busy keep-alive clients and health probes in a process of their own: `node overload-clients.mjs '<options as JSON>'` prints counts as JSON.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'

/** @type {{ port: number, token: string, connections: number, inFlight: number, seconds: number, probes: number, firstResponseSecondsMax: number, patienceSeconds?: number, probeIntervalMilliseconds?: number }} */
const options = JSON.parse(process.argv[2])
const { port, token, connections, inFlight, seconds, probes, firstResponseSecondsMax, patienceSeconds = 0 } = options
/** Between two single probes; none without it. */
const { probeIntervalMilliseconds = 0 } = options

const body = JSON.stringify({ token, distinct_id: 'user-1', person_properties: { plan: 'pro' } })
const evaluation = `POST /flags/?v=2 HTTP/1.1\r\nHost: halyard\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const statuses = {}
let errors = 0
let retryAfterMissing = 0
let responses = 0
let isOver = false

/** Reads responses one after another and reports status and head of each. */
function readResponses(socket, onResponse) {
  let rest = Buffer.alloc(0)
  let missing = 0
  socket.on('data', chunk => {
    if (missing >= chunk.length) {
      missing -= chunk.length
      return
    }
    rest = rest.length === 0 ? chunk.subarray(missing) : Buffer.concat([rest, chunk])
    missing = 0
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = rest.toString('latin1', 0, end)
      const to = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      onResponse(head)
      if (to >= rest.length) {
        missing = to - rest.length
        rest = Buffer.alloc(0)
        return
      }
      rest = rest.subarray(to)
    }
  })
}

function startClient() {
  const client = { startedAt: performance.now(), firstResponse: undefined, responses: 0 }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  client.socket = socket
  socket.on('connect', () => socket.write(evaluation.repeat(inFlight)))
  socket.on('error', () => {
    if (!isOver) errors += 1
  })
  readResponses(socket, head => {
    client.firstResponse ??= performance.now() - client.startedAt
    client.responses += 1
    responses += 1
    const status = head.slice(9, 12)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === '503' && !/\r\nretry-after: *[1-9]/i.test(head)) retryAfterMissing += 1
    if (!isOver) socket.write(evaluation)
  })
  return client
}

const prober = new Worker(new URL('health-probes.mjs', import.meta.url), {
  workerData: { port, millisecondsMax: Math.max(12_000, patienceSeconds * 1000) },
})
await once(prober, 'message')
/** Resolvers of the probes under way, by id. */
const underWay = new Map()
prober.on('message', ({ id, milliseconds }) => underWay.get(id)(milliseconds))
let probeCount = 0

/** The most responses that other clients got while one probe waited: unlike a duration, it is the same on a busy machine. */
let responsesDuringProbeMax = 0

/** Milliseconds until the response to a health probe; undefined without one. */
async function probe() {
  const before = responses
  const milliseconds = await new Promise(resolve => {
    const id = probeCount++
    underWay.set(id, resolve)
    prober.postMessage(id)
  })
  responsesDuringProbeMax = Math.max(responsesDuringProbeMax, responses - before)
  return milliseconds
}

const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

const clients = Array.from({ length: connections }, startClient)
const isWaiting = () => clients.some(client => client.firstResponse === undefined)
/** While clients are still connecting, and after each has had a response. */
const single = { connecting: [], busy: [] }
const startProbe = () => single[isWaiting() ? 'connecting' : 'busy'].push(probe())
const probing = probeIntervalMilliseconds > 0 ? setInterval(startProbe, probeIntervalMilliseconds) : undefined
// The burst comes while new connections are still being accepted, the second one when all of them are busy.
await wait((seconds * 1000) / 10)
const early = await Promise.all(Array.from({ length: probes }, probe))
await wait((seconds * 1000) / 2)
const late = await Promise.all(Array.from({ length: probes }, probe))
const elapsed = () => performance.now() - clients[0].startedAt
await wait(Math.max(0, seconds * 1000 - elapsed()))
// The load goes on until every client got a response: on a busy machine that says more than a duration.
while (isWaiting() && elapsed() < patienceSeconds * 1000) await wait(50)
clearInterval(probing)
const connecting = await Promise.all(single.connecting)
const busy = await Promise.all(single.busy)
isOver = true

const quantile = (values, share) => {
  const sorted = values.map(value => value ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  return Number.isFinite(value) ? Math.round(value) : 'none'
}
const quantilesOf = values => ({
  count: values.length,
  p50: values.length > 0 ? quantile(values, 0.5) : 'none',
  p99: values.length > 0 ? quantile(values, 0.99) : 'none',
  max: values.length > 0 ? quantile(values, 1) : 'none',
})
const first = clients.map(client => client.firstResponse)
process.stdout.write(
  `${JSON.stringify({
    statuses,
    errors,
    retryAfterMissing,
    responses,
    responsesDuringProbeMax,
    neverAnswered: first.filter(value => value === undefined).length,
    firstResponseTooLate: first.filter(value => value === undefined || value > firstResponseSecondsMax * 1000).length,
    firstResponseMillisecondsMax: quantile(first, 1),
    leastResponses: Math.min(...clients.map(client => client.responses)),
    mostResponses: Math.max(...clients.map(client => client.responses)),
    connecting: quantilesOf(connecting),
    busy: quantilesOf(busy),
    probesAnswered: [...early, ...late].filter(value => value !== undefined).length,
    early: { p50: quantile(early, 0.5), p99: quantile(early, 0.99) },
    late: { p50: quantile(late, 0.5), p99: quantile(late, 0.99) },
  })}\n`,
  () => process.exit(),
)
