import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../../tests/free-port.ts'
import { startPostgres } from '../../tests/postgres-server.ts'
import { mixedDefinitions } from '../mix.ts'
import type { Peers } from '../peers.ts'
import { stopProcess } from '../processes.ts'
import { unleashFeatures, unleashSegments } from './unleash-features.ts'

export interface UnleashServer {
  readonly port: number
  readonly pid: number
  readonly adminHeaders: Readonly<Record<string, string>>
  readonly backendHeaders: Readonly<Record<string, string>>
  readonly frontendHeaders: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const tokens = {
  admin: '*:*.benchbenchbenchbenchbench',
  backend: 'default:development.backendbackendbackend',
  frontend: 'default:development.frontendfrontendfrontend',
}
const startMillisecondsMax = 120_000
const unlimited = '1000000000'

/**
 * Starts Unleash with the mixed flags, on Node 22 and its own PostgreSQL with fsync on. Telemetry and rate limits are off. Undefined when
 * it is not installed.
 */
export async function startUnleash(peers: Peers, flagCount: number): Promise<UnleashServer | undefined> {
  const folder = peers.find('unleash-server')
  const node = peers.node(22)
  if (folder === undefined || node === undefined) return undefined
  const postgres = await startPostgres(['fsync=on', 'full_page_writes=on'])
  const port = await freePort()
  const child = spawn(node, [join(folder, 'node_modules/unleash-server/dist/server.js')], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
      DATABASE_URL: postgres.url,
      DATABASE_SSL: 'false',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(port),
      LOG_LEVEL: 'error',
      CHECK_VERSION: 'false',
      SEND_TELEMETRY: 'false',
      INIT_ADMIN_API_TOKENS: tokens.admin,
      INIT_BACKEND_API_TOKENS: tokens.backend,
      INIT_FRONTEND_API_TOKENS: tokens.frontend,
      SDK_API_RATE_LIMIT_PER_MINUTE: unlimited,
      TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE: unlimited,
      SEARCH_FEATURES_RATE_LIMIT_PER_MINUTE: unlimited,
      UNLEASH_FEATURE_FLAGS_LIMIT: unlimited,
    },
    stdio: 'ignore',
  })
  const stop = async () => {
    await stopProcess(child)
    await postgres.stop()
  }
  try {
    await untilHealthy(port, child)
    await createFeatures(port, flagCount)
    await untilServed(port)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    port,
    pid: child.pid!,
    adminHeaders: { authorization: tokens.admin },
    backendHeaders: { authorization: tokens.backend },
    frontendHeaders: { authorization: tokens.frontend },
    stop,
  }
}

const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds))

async function untilHealthy(port: number, child: ChildProcess): Promise<void> {
  const until = performance.now() + startMillisecondsMax
  while (child.exitCode === null && performance.now() < until) {
    const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
    if (response?.ok) return
    await pause(100)
  }
  throw new Error('unleash-server did not start.')
}

async function createFeatures(port: number, flagCount: number): Promise<void> {
  const definitions = mixedDefinitions(flagCount)
  const call = (path: string, body: object) => request(port, 'POST', path, tokens.admin, body)
  const ids = new Map<number, number>()
  for (const { id, constraints } of unleashSegments(definitions)) {
    const created = (await call('/api/admin/segments', { name: `segment-${id}`, constraints })) as { id: number }
    ids.set(id, created.id)
  }
  for (const { name, strategies } of unleashFeatures(definitions)) {
    const features = '/api/admin/projects/default/features'
    await call(features, { name, type: 'release', impressionData: false })
    const environment = `${features}/${name}/environments/development`
    for (const { segments, ...strategy } of strategies) {
      await call(`${environment}/strategies`, { ...strategy, segments: segments.map(id => ids.get(id)) })
    }
    await call(`${environment}/on`, {})
  }
}

/** Unleash applies changes to evaluations with a delay: waits until the number of flags is stable. */
async function untilServed(port: number): Promise<void> {
  const context = { userId: 'user', properties: {} }
  let before = -1
  for (let unchanged = 0; unchanged < 3; ) {
    const { toggles } = (await request(port, 'POST', '/api/frontend', tokens.frontend, { context })) as {
      toggles: object[]
    }
    unchanged = toggles.length > 0 && toggles.length === before ? unchanged + 1 : 0
    before = toggles.length
    await pause(1000)
  }
}

async function request(port: number, method: string, path: string, token: string, body: object): Promise<unknown> {
  const headers = { authorization: token, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok)
    throw new Error(`unleash-server returned ${response.status} for ${method} ${path}: ${text.slice(0, 300)}`)
  return text === '' ? undefined : JSON.parse(text)
}
