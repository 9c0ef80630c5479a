import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { mixedDefinitions, people } from './mix.ts'

/**
 * How many evaluations the whole server answers, against a bare `node:http` server that parses the body and returns a constant of the
 * same size. Both run in processes of their own, by turns; the ratios are what counts: of requests a second, and of processor time a request,
 * which also tells the truth on a crowded machine (Linux only). After a build:
 *
 *     npx esbuild bench/server.ts --bundle --platform=node --format=esm --conditions=halyard-source --outfile=bench/server.mjs
 *     node bench/server.mjs
 */

const connections = 32
const usersCount = 50_000
const warmUpMilliseconds = 1500
const measureMilliseconds = 4000
const rounds = Number(process.env.BENCH_TURNS ?? 3)
const users = people(usersCount)
const key = 'phx_benchbenchbenchbenchbenchbench'

function serveFloor(bytes: number): void {
  const answer = Buffer.alloc(bytes, ' ')
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
      response.end(answer)
    })
  })
  server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as { port: number }).port}`))
}

async function main(): Promise<void> {
  for (const flagCount of [10, 100, 1000]) {
    const halyard = await startHalyard(flagCount)
    const floor = await start(
      process.execPath,
      [...process.execArgv, resolve(process.argv[1]!), 'floor', String(halyard.bytes)],
      {},
    )
    const results = { floor: [] as Turn[], halyard: [] as Turn[] }
    for (let round = 0; round < rounds; round++) {
      results.floor.push(await load(floor, halyard.token))
      results.halyard.push(await load(halyard, halyard.token))
    }
    floor.stop()
    halyard.stop()
    const figures = (pick: (turn: Turn) => number) =>
      [median(results.floor.map(pick)), median(results.halyard.map(pick))] as const
    const [floorRate, rate] = figures(turn => turn.rate)
    const [floorCost, cost] = figures(turn => turn.microseconds)
    console.log(
      `${flagCount} flags, ${halyard.bytes} bytes: floor ${floorRate | 0}/s, halyard ${rate | 0}/s, ratio ${(rate / floorRate).toFixed(2)};`,
      `processor time ${floorCost.toFixed(0)} and ${cost.toFixed(0)} µs a request, ratio ${(floorCost / cost).toFixed(2)}`,
    )
  }
}

interface Turn {
  readonly rate: number
  /** Processor time of the server for one request. */
  readonly microseconds: number
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!

interface Started {
  readonly port: number
  readonly pid: number
  stop(): void
}

async function start(command: string, args: readonly string[], environment: Record<string, string>): Promise<Started> {
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] })
  let seen = ''
  for await (const chunk of child.stdout) {
    seen += chunk
    const port = /listening (\d+)/.exec(seen)?.[1] ?? /"address":"http:[^"]*:(\d+)"/.exec(seen)?.[1]
    if (port) {
      child.stdout.resume()
      return { port: Number(port), pid: child.pid!, stop: () => child.kill() }
    }
  }
  throw new Error(`did not start: ${seen}`)
}

async function startHalyard(flagCount: number): Promise<Started & { token: string; bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-'))
  const main = resolve(import.meta.dirname, '../packages/server/dist/halyard.js')
  const started = await start(process.execPath, [main, 'serve'], {
    PORT: '0',
    DATABASE_URL: `sqlite:${join(folder, 'halyard.db')}`,
    HALYARD_BOOTSTRAP_KEY: key,
  })
  const url = `http://127.0.0.1:${started.port}`
  const call = async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(
      url + path,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    )
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes.
    return (await response.json()) as any
  }
  const [project] = (await call('/api/projects/')).results
  const { flags, cohorts } = mixedDefinitions(flagCount)
  for (const { filters } of cohorts) await call(`/api/projects/${project.id}/cohorts/`, { name: 'bench', filters })
  for (const flag of flags)
    await call(`/api/projects/${project.id}/feature_flags/`, { key: flag.key, filters: flag.filters })
  const token: string = project.api_token
  const { length } = JSON.stringify(await call('/flags/?v=2', JSON.parse(bodyOf(token, 0))))
  return {
    ...started,
    token,
    bytes: length,
    stop() {
      started.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function bodyOf(token: string, user: number): string {
  const { distinctId, personProperties } = users[user]!
  return JSON.stringify({ token, distinct_id: distinctId, person_properties: personProperties })
}

/** Requests a second over keep-alive connections, each with the next user. */
async function load({ port, pid }: Started, token: string): Promise<Turn> {
  const requests = Array.from({ length: usersCount }, (_, user) => {
    const body = bodyOf(token, user)
    return Buffer.from(
      `POST /flags/?v=2 HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
  let next = 0
  let done = 0
  let isOver = false
  const sockets: Socket[] = []
  for (let n = 0; n < connections; n++) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    sockets.push(socket)
    const send = () => socket.write(requests[next++ % usersCount]!)
    let missing = 0
    socket.on('data', chunk => {
      if (missing === 0) {
        const end = chunk.indexOf('\r\n\r\n')
        missing = end + 4 + Number(/content-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1])
      }
      missing -= chunk.length
      if (missing > 0) return
      missing = 0
      done += 1
      if (!isOver) send()
    })
    send()
  }
  const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))
  await pause(warmUpMilliseconds)
  const [begun, before, used] = [performance.now(), done, processorMicroseconds(pid)]
  await pause(measureMilliseconds)
  const rate = ((done - before) / (performance.now() - begun)) * 1000
  const microseconds = (processorMicroseconds(pid) - used) / (done - before)
  isOver = true
  for (const socket of sockets) socket.destroy()
  return { rate, microseconds }
}

/** Linux counts in hundredths of a second. */
function processorMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

if (process.argv[2] === 'floor') serveFloor(Number(process.argv[3]))
else await main()
