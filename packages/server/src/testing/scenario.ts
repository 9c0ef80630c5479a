import { allRoutes, type Route } from '@halyard/contract'
import { pino } from 'pino'
import { Compile } from 'typebox/compile'
import type { Halyard } from '../main.ts'
import type { DialectName } from '../storage/migrations/migration.ts'
import type { StorageOptions } from '../storage/open-storage.ts'
import type { WorkerBus } from '../worker-bus.ts'
import { serverBundle } from './bundles.ts'
import { eventsOfLane } from './clickhouse-lane.ts'
import { createTestDatabase } from './databases.ts'

/** A response with its parsed body. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any
  readonly text: string
}

/** An HTTP client with an API key. */
export interface Client {
  readonly key: string
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  delete(path: string, headers?: Record<string, string>): Promise<Reply>
  /** Anything else: raw bodies, other methods. */
  send(path: string, init: RequestInit): Promise<Reply>
}

/** A running server; requests are made as the owner. */
export interface RunningServer extends Client {
  readonly url: string
  readonly projectId: number
  readonly projectToken: string
  /** `/api/projects/{id}` of the first project. */
  readonly project: string
  /** `/api/organizations/{id}` of the first organization. */
  readonly organization: string
  as(key: string | undefined): Client
  /** A new member of the first organization. */
  join(name: string, level?: 1 | 8): Promise<Client & { uuid: string; id: number; email: string }>
  /** A user of another organization. */
  stranger(name: string): Promise<Client & { project: string; organization: string }>
}

/** A server in this process, on its own database, for tests that look inside. Others start the program: `tests/program/start-program.ts`. */
export interface Scenario extends RunningServer {
  readonly halyard: Halyard
  readonly databaseUrl: string
  readonly personsUrl: string | undefined
  /** Another node on the same database, which is closed with this one. */
  startAnother(options?: ScenarioOptions): Promise<Scenario>
  close(): Promise<void>
}

export interface ScenarioOptions {
  readonly environment?: Record<string, string>
  readonly storage?: Pick<StorageOptions, 'wrapDialect'>
  readonly peers?: WorkerBus
  /** Persons get a database of their own, of this kind. */
  readonly persons?: DialectName | undefined
  /** Uses this database of persons, and does not drop it. */
  readonly personsUrl?: string | undefined
  readonly personsStorage?: Pick<StorageOptions, 'wrapDialect'>
  /** Uses this database instead of a new one, and does not drop it. */
  readonly databaseUrl?: string
}

const ownerKey = 'phx_ownerownerownerownerownerowner'

export async function startScenario(dialect: DialectName, options: ScenarioOptions = {}): Promise<Scenario> {
  const database = options.databaseUrl ? undefined : await createTestDatabase(dialect)
  const persons = options.persons && (await createTestDatabase(options.persons, 'empty'))
  const personsUrl = persons?.url ?? options.personsUrl
  const events = eventsOfLane()
  const { createHalyard, readConfig } = await serverBundle()
  const config = readConfig({
    DATABASE_URL: options.databaseUrl ?? database?.url,
    HALYARD_BOOTSTRAP_KEY: ownerKey,
    PORT: '0',
    HALYARD_PASSWORD_COST: '10',
    // Tests invite the people who approve.
    HALYARD_FOUR_EYES_DAYS: '0',
    // Jobs run only when a test calls them.
    HALYARD_SCHEDULER_SECONDS: '0',
    // No background reads during a test.
    HALYARD_WARM_PROJECTS_MAX: '0',
    // A busy machine must not trigger load shedding.
    HALYARD_LAG_MILLISECONDS_MAX: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...(events && { EVENTS_URL: events.url }),
    PERSONS_DATABASE_URL: personsUrl,
    ...options.environment,
  })
  const halyard = await createHalyard(config, pino({ level: config.logLevel }), {
    ...options.storage,
    ...(options.personsStorage && { persons: options.personsStorage }),
    ...(options.peers && { peers: options.peers }),
  })
  const url = await halyard.app.listen({ host: '127.0.0.1', port: 0 })
  const server = await visitServer(url, ownerKey)
  const others: Scenario[] = []
  return {
    ...(events ? events.countBeforeReads(server, halyard, config) : { ...server, halyard }),
    databaseUrl: config.databaseUrl,
    personsUrl,
    async startAnother(more) {
      const other = await startScenario(dialect, { ...more, databaseUrl: config.databaseUrl, personsUrl })
      others.push(other)
      return other
    },
    async close() {
      for (const other of others) await other.close()
      await halyard.close()
      await events?.drop()
      await persons?.drop()
      await database?.drop()
    },
  }
}

/** Servers on one database. */
export interface TwoNodes {
  readonly one: Scenario
  readonly two: Scenario
  /** The client on the next node, in turn, as behind a load balancer. */
  inTurn(client: Client): Client
  close(): Promise<void>
}

export async function startTwoNodes(dialect: DialectName, options: ScenarioOptions = {}): Promise<TwoNodes> {
  const one = await startScenario(dialect, options)
  const nodes = [one, await one.startAnother(options)] as const
  let turn = 0
  return {
    one,
    two: nodes[1],
    inTurn: ({ key }) => nodes[turn++ % 2]!.as(key || undefined),
    close: () => one.close(),
  }
}

/** The first project of a server, and its owner as a client. */
export async function visitServer(url: string, ownerKey: string): Promise<RunningServer> {
  const owner = clientOf(url, ownerKey)
  const [first] = (await owner.get('/api/projects/')).body.results
  const organization = `/api/organizations/${first.organization}`

  const signUp = async (invite: Reply, name: string) => {
    const reply = await clientOf(url, undefined).post(`/api/signup/${invite.body.token}/`, {
      first_name: name,
      password: 'correct horse battery',
    })
    return { ...clientOf(url, reply.body.api_key), ...pick(reply.body.user) }
  }

  return {
    ...owner,
    url,
    projectId: first.id,
    projectToken: first.api_token,
    project: `/api/projects/${first.id}`,
    organization,
    as: key => clientOf(url, key),
    async join(name, level = 1) {
      const invite = await owner.post(`${organization}/invites/`, { target_email: `${name}@example.com`, level })
      return signUp(invite, name)
    },
    async stranger(name) {
      const invite = await owner.post(`${organization}/invites/`, {
        target_email: `${name}@elsewhere.example`,
        level: 8,
      })
      const person = await signUp(invite, name)
      const own = await person.post('/api/organizations/', { name: `${name}'s organization` })
      await person.delete(`${organization}/members/${person.uuid}/`)
      return {
        ...person,
        organization: `/api/organizations/${own.body.id}`,
        project: `/api/projects/${own.body.teams[0].id}`,
      }
    },
  }
}

const pick = (user: { uuid: string; id: number; email: string }) => ({
  uuid: user.uuid,
  id: user.id,
  email: user.email,
})

export function clientOf(url: string, key: string | undefined): Client {
  const send = async (path: string, init: RequestInit): Promise<Reply> => {
    const headers = new Headers(init.headers)
    if (key !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
    const response = await fetch(url + path, { ...init, headers })
    const text = await response.text()
    const isJson = /^application\/(?:scim\+)?json/.test(response.headers.get('content-type') ?? '')
    const reply = { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
    checkAgainstContract(init.method ?? 'GET', path, reply)
    return reply
  }
  const withBody = (method: string) => (path: string, body?: unknown, headers?: Record<string, string>) =>
    send(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    key: key ?? '',
    get: (path, headers) => send(path, headers ? { headers } : {}),
    delete: (path, headers) => send(path, { method: 'DELETE', ...(headers && { headers }) }),
    post: withBody('POST'),
    patch: withBody('PATCH'),
    put: withBody('PUT'),
    send,
  }
}

/** Validates every response that a test receives against the route table. */
function checkAgainstContract(method: string, path: string, reply: Reply): void {
  const pathname = path.split('?', 1)[0]?.replace(/\/$/, '') ?? ''
  const shape = shapes.find(({ route, pattern }) => route.method === method && pattern.test(pathname))
  // Responses with `Preference-Applied` deliberately extend the contract.
  if (!shape || reply.status >= 300 || reply.headers.has('preference-applied')) return
  const wrong = checkOf(shape.route, reply.status)?.(reply)
  if (wrong)
    throw new Error(
      `${method} ${path} returned ${reply.status} with a body that violates the contract: ${wrong}\n${reply.text.slice(0, 500)}`,
    )
}

const shapes = allRoutes
  .map(route => ({ route, pattern: new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`) }))
  .sort((a, b) => Number(a.route.path.includes(':id')) - Number(b.route.path.includes(':id')))

type Check = (reply: Reply) => string | undefined

/** Compiled when a response is first received: most files of tests call a few of the routes. */
const checks = new Map<unknown, Check>()

function checkOf(route: Route, status: number): Check | undefined {
  if (!(status in route.responses)) return undefined
  const schema = route.responses[status]
  if (!schema) return reply => (reply.text === '' ? undefined : 'unexpected body')
  const cached = checks.get(schema)
  if (cached) return cached
  const compiled = Compile(schema)
  const check: Check = reply =>
    compiled.Check(reply.body) ? undefined : JSON.stringify(compiled.Errors(reply.body).slice(0, 3))
  checks.set(schema, check)
  return check
}
