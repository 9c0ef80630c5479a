import { allRoutes, type Route, sdkRoutes } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, dialects } from '../../packages/server/src/testing/databases.ts'
import { edgeKey, newEdgeFolder, removeEdgeFolder } from '../../packages/server/src/testing/edges.ts'
import { type Client, clientOf } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, type ServerProcess, startEdge, startServer } from '../faults/server-process.ts'

/** Every stream of the route table ends when its caller loses access, on the built program and wherever the stream is open. */

const patience = { timeout: 10_000, interval: 20 }

interface Place {
  /** Where access is taken away. */
  readonly owner: Client
  /** Where streams are opened. */
  readonly url: string
  close(): Promise<void>
}

async function startPlace(
  dialect: 'sqlite' | 'postgres',
  environment: Record<string, string>,
  second?: (first: ServerProcess, databaseUrl: string) => Promise<ServerProcess>,
): Promise<Place> {
  const database = await createTestDatabase(dialect)
  const first = await startServer(database.url, environment)
  const other = await second?.(first, database.url)
  // A pooled connection to an earlier server on the same port fails once.
  for (const { url } of [first, other ?? first]) await fetch(`${url}/_livez`).catch(() => {})
  return {
    owner: clientOf(first.url, ownerKey),
    url: (other ?? first).url,
    async close() {
      await other?.stop()
      await first.stop()
      await database.drop()
    },
  }
}

async function startEdgePlace(): Promise<Place> {
  const folder = await newEdgeFolder()
  const place = await startPlace('sqlite', {}, async first => {
    const key = await edgeKey(clientOf(first.url, ownerKey))
    return startEdge(['--upstream', first.url, '--data', folder], { HALYARD_UPSTREAM_KEY: key })
  })
  return { ...place, close: () => place.close().then(() => removeEdgeFolder(folder)) }
}

const onPostgres: [string, () => Promise<Place>][] = [
  ['a server on PostgreSQL', () => startPlace('postgres', {})],
  ['another node', () => startPlace('postgres', {}, (_first, url) => startServer(url, {}))],
]
const places: [string, () => Promise<Place>][] = [
  ['a server on SQLite', () => startPlace('sqlite', {})],
  ['two workers', () => startPlace('sqlite', { HALYARD_WORKERS: '2' })],
  ['an edge', startEdgePlace],
  ...((dialects as readonly string[]).includes('postgres') ? onPostgres : []),
]

const password = 'correct horse battery'

/** A caller with one credential, and how the owner or the caller takes it away. */
interface Caller {
  readonly credential: string
  readonly project: string
  readonly projectId: number
  lose(): Promise<unknown>
}

type Credential = 'personal key' | 'secret key' | 'project token'

interface Loss {
  readonly title: string
  /** Sessions of the dashboard are not replicated to edges. */
  readonly isOfSession?: boolean
  readonly credential: Credential
  readonly prepare: (place: Place, name: string) => Promise<Caller>
}

async function newProject({ owner }: Place, name: string) {
  const { body } = await owner.post('/api/projects/', { name })
  const project = `/api/projects/${body.id}`
  await owner.post(`${project}/feature_flags/`, { key: 'first' })
  return { project, projectId: body.id as number, organization: `/api/organizations/${body.organization}`, body }
}

/** An admin of the organization, signed in. */
async function newPerson(place: Place, name: string) {
  const created = await newProject(place, name)
  const { owner } = place
  const email = `${name}@example.com`
  const invite = await owner.post(`${created.organization}/invites/`, { target_email: email, level: 8 })
  const { body } = await owner.send(`/api/signup/${invite.body.token}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ first_name: name, password }),
  })
  const serverUrl = (path: string, init: RequestInit) =>
    owner.send(path, { ...init, headers: { ...(init.headers as object), authorization: `Bearer ${body.api_key}` } })
  const send = (method: string) => (path: string, content?: unknown) =>
    serverUrl(path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    })
  const member = `${created.organization}/members/${body.user.uuid}/`
  return {
    ...created,
    member,
    session: body.api_key as string,
    post: send('POST'),
    patch: send('PATCH'),
    delete: send('DELETE'),
  }
}

type Person = Awaited<ReturnType<typeof newPerson>>

const bySession = (title: string, lose: (person: Person, place: Place) => Promise<unknown>): Loss => ({
  title,
  isOfSession: true,
  credential: 'personal key',
  async prepare(place, name) {
    const person = await newPerson(place, name)
    return { ...person, credential: person.session, lose: () => lose(person, place) }
  },
})

const byKey = (title: string, lose: (person: Person, keyPath: string, place: Place) => Promise<unknown>): Loss => ({
  title,
  credential: 'personal key',
  async prepare(place, name) {
    const person = await newPerson(place, name)
    const scopes = ['feature_flag:read', 'project:read', 'edge:write']
    const { body } = await person.post('/api/personal_api_keys/', { label: 'stream', scopes })
    return { ...person, credential: body.value, lose: () => lose(person, `/api/personal_api_keys/${body.id}/`, place) }
  },
})

const losses: readonly Loss[] = [
  byKey('the key is deleted', (person, key) => person.delete(key)),
  byKey('the key loses its scope', (person, key) => person.patch(key, { scopes: ['cohort:read'] })),
  byKey('the key expires', (person, key) =>
    person.patch(key, { expires_at: new Date(Date.now() + 500).toISOString() }),
  ),
  byKey('the key is limited to another organization', async (person, key) => {
    const other = await person.post('/api/organizations/', { name: `Another ${person.projectId}` })
    await person.patch(key, { scoped_organizations: [other.body.id] })
  }),
  byKey('the member is removed', (person, _key, { owner }) => owner.delete(person.member)),
  bySession('the member signs out', person => person.post('/api/logout/')),
  bySession('the member changes the password', person =>
    person.patch('/api/users/@me/', { password: `${password} staple`, current_password: password }),
  ),
  {
    title: 'the secret key is deleted',
    credential: 'secret key',
    async prepare(place, name) {
      const created = await newProject(place, name)
      const { body } = await place.owner.post(`${created.project}/secret_keys/`, { label: 'stream' })
      const lose = () => place.owner.delete(`${created.project}/secret_keys/${body.id}/`)
      return { ...created, credential: body.value, lose }
    },
  },
  {
    title: 'the project token is replaced',
    credential: 'project token',
    async prepare(place, name) {
      const created = await newProject(place, name)
      const lose = () => place.owner.patch(`${created.project}/reset_token/`)
      return { ...created, credential: created.body.api_token, lose }
    },
  },
  {
    title: 'the project is deleted',
    credential: 'secret key',
    async prepare(place, name) {
      const created = await newProject(place, name)
      const { body } = await place.owner.post(`${created.project}/secret_keys/`, { label: 'stream' })
      return { ...created, credential: body.value, lose: () => place.owner.delete(`${created.project}/`) }
    },
  },
]

/** What each stream accepts. A new streaming route has to be added here. */
const streams: Readonly<Record<string, { readonly credentials: readonly Credential[]; readonly isOnEdges: boolean }>> =
  {
    '/api/projects/:project_id/feature_flags/stream': { credentials: ['personal key', 'secret key'], isOnEdges: true },
    '/ofrep/v1/stream': { credentials: ['personal key', 'secret key', 'project token'], isOnEdges: true },
    '/api/changes/stream': { credentials: ['personal key'], isOnEdges: false },
    '/api/edge/stream': { credentials: ['personal key'], isOnEdges: true },
  }

const streamingRoutes = ([...allRoutes, ...sdkRoutes] as readonly Route[]).filter(
  ({ mediaType }) => mediaType === 'text/event-stream',
)

/** Streams of everything that a user can see may stay open for what is left, and deliver nothing else. */
const mayStayOpen = (path: string, title: string): boolean =>
  (path === '/api/changes/stream' && (title === 'the member is removed' || title.includes('another organization'))) ||
  (path === '/api/edge/stream' && title.includes('another organization'))

interface Opened {
  readonly status: number
  /** Everything that was received so far. */
  text(): string
  readonly hasEnded: () => boolean
  close(): void
}

async function open(url: string, { method, path }: Route, { credential, projectId }: Caller): Promise<Opened> {
  const controller = new AbortController()
  const response = await fetch(url + path.replace(':project_id', String(projectId)), {
    method,
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: '{}' }),
    signal: controller.signal,
  })
  let text = ''
  let isOver = false
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true })
  }
  read()
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return { status: response.status, text: () => text, hasEnded: () => isOver, close: () => controller.abort() }
}

it('covers every stream of the route table', () => {
  expect(streamingRoutes.map(({ path }) => path).sort()).toEqual(Object.keys(streams).sort())
})

describe.each(places)('streams of %s', (placeName, start) => {
  let place: Place
  let counter = 0
  beforeAll(async () => {
    place = await start()
  })
  afterAll(() => place.close())

  const cases = streamingRoutes.flatMap(route => {
    const { credentials, isOnEdges } = streams[route.path] ?? { credentials: [], isOnEdges: false }
    const isOnEdge = placeName === 'an edge'
    if (isOnEdge && !isOnEdges) return []
    return losses
      .filter(({ credential, isOfSession }) => credentials.includes(credential) && !(isOnEdge && isOfSession))
      .map(loss => ({ route, loss }))
  })

  it.each(cases.map(each => [each.route.path, each.loss.title, each] as const))(
    '%s ends when %s',
    async (path, title, { route, loss }) => {
      const caller = await loss.prepare(place, `person${++counter}`)
      let stream = await open(place.url, route, caller)
      // An edge receives a new key a moment later.
      await expect
        .poll(async () => {
          if (stream.status === 200) return 200
          stream = await open(place.url, route, caller)
          return stream.status
        }, patience)
        .toBe(200)
      await expect.poll(stream.text, patience).not.toBe('')
      expect(stream.hasEnded()).toBe(false)
      await caller.lose()
      if (mayStayOpen(path, title)) {
        const ofOwner = await open(place.url, route, { ...caller, credential: place.owner.key })
        await place.owner.post(`${caller.project}/feature_flags/`, { key: `unseen-${counter}` })
        const evidence = path === '/api/changes/stream' ? '"topic":"flag"' : `unseen-${counter}`
        await expect.poll(ofOwner.text, patience).toContain(evidence)
        expect(stream.text()).not.toContain(evidence)
        ofOwner.close()
      } else {
        await expect.poll(stream.hasEnded, patience).toBe(true)
      }
      stream.close()
    },
  )
})
