import { ownerKey } from './server-process.ts'

/**
 * Acknowledged: the response was a success. Unknown: there was no response, or a 503, so the write may be stored or not. Refused: the
 * response was another error.
 */
export type Outcome = 'acknowledged' | 'unknown' | 'refused'

/** Where the marker of a write is found; `change` is a field whose new value is in the activity log. */
export type WriteKind =
  | 'flag'
  | 'role'
  | 'grant'
  | 'key'
  | 'plugin'
  | 'file'
  | 'config'
  | 'cohort'
  | 'change'
  | 'schedule'
  | 'project'
  | 'copy'
  | 'person'

export interface Write {
  readonly kind: WriteKind
  /** Unique strings that the write leaves in the database: all of them, or none. */
  readonly markers: readonly string[]
  readonly effect: 'adds' | 'removes'
  outcome: Outcome
  status?: number
}

export interface MixedWrites {
  readonly writes: Write[]
  /** Writes until stopped or until the server exits. */
  run(url: string, stop: AbortSignal): Promise<void>
}

const writersCount = 6
const requestMillisecondsMax = 30_000
const eventsInBatch = 3
/** A user has at most 100 keys. */
const keysMax = 90

type Json = Record<string, unknown>
type Send = (
  kind: WriteKind,
  method: string,
  path: string,
  bodyFor: (marker: string) => unknown,
  options?: { markers?: (marker: string) => readonly string[]; effect?: Write['effect'] },
) => Promise<Json | undefined>

interface Place {
  readonly project: string
  readonly organization: string
  readonly token: string
  /** Target projects of copies. */
  readonly copiesTo: readonly number[]
}

/** The objects that one writer created and continues to change. */
interface Own {
  flag?: number
  flagKey?: string
  role?: string
  grant?: { id: number; marker: string }
  plugin?: number
  config?: number
  cohort?: number
}

/**
 * Several concurrent writers: on their own flags and on a shared one, on roles, grants, keys, plugins and their configurations, cohorts,
 * schedules, projects, copies and events. Every marker is unique.
 */
export function createMixedWrites(random: () => number): MixedWrites {
  const writes: Write[] = []
  let counter = 0
  let keys = 0
  let shared: number | undefined
  let copiesTo: number[] = []

  async function run(url: string, stop: AbortSignal): Promise<void> {
    const { project, organization, token } = await addressesOf(url)
    const server = { url, isGone: false }
    const isOver = () => stop.aborted || server.isGone
    const send = createSender(server, isOver)
    const flags = `${project}/feature_flags/`
    shared ??= (await send('flag', 'POST', flags, marker => ({ key: `shared-${marker}`, name: marker })))?.id as number
    while (copiesTo.length < 2 && !isOver()) {
      const made = await send('project', 'POST', '/api/projects/', name => ({ name }))
      if (made) copiesTo = [...copiesTo, made.id as number]
    }
    const place = { project, organization, token, copiesTo }
    const writer = async () => {
      const own: Own = {}
      while (!isOver()) await oneOf(allWrites, random)(send, place, own, random, shared as number)
    }
    await Promise.all(Array.from({ length: writersCount }, writer))
  }

  /** Sends one write and records its outcome. */
  function createSender(server: { readonly url: string; isGone: boolean }, isOver: () => boolean): Send {
    return async (kind, method, path, bodyFor, { markers, effect = 'adds' } = {}) => {
      if (isOver()) return undefined
      if (kind === 'key' && ++keys > keysMax) return undefined
      const marker = `w${++counter}`
      const write: Write = { kind, markers: markers?.(marker) ?? [marker], effect, outcome: 'unknown' }
      writes.push(write)
      const body = bodyFor(marker)
      try {
        const response = await fetch(server.url + path, {
          method,
          headers: {
            authorization: `Bearer ${ownerKey}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(requestMillisecondsMax),
        })
        // Only a complete response is an acknowledgment.
        const text = await response.text()
        write.status = response.status
        write.outcome = response.ok ? 'acknowledged' : response.status === 503 ? 'unknown' : 'refused'
        return response.ok ? (text === '' ? {} : (JSON.parse(text) as Json)) : undefined
      } catch {
        server.isGone = true
        return undefined
      }
    }
  }

  return { writes, run }
}

type OneWrite = (send: Send, place: Place, own: Own, random: () => number, shared: number) => Promise<void>

/** Weights in percent. */
const allWrites: readonly (readonly [weight: number, write: OneWrite])[] = [
  [18, createFlag],
  [16, changeFlag],
  [6, deleteAndRestore],
  [14, changeShared],
  [
    4,
    async (send, { organization }, own) => {
      own.role = (await send('role', 'POST', `${organization}/roles/`, name => ({ name })))?.id as string
    },
  ],
  [6, grantOrRevoke],
  [
    4,
    async send => {
      await send('key', 'POST', '/api/personal_api_keys/', label => ({ label, scopes: ['feature_flag:read'] }))
    },
  ],
  [8, writePlugin],
  [8, writeCohort],
  [4, schedule],
  [2, copy],
  [10, sendEvents],
]

function oneOf(choices: typeof allWrites, random: () => number): OneWrite {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, write] of choices) {
    left -= weight
    if (left < 0) return write
  }
  return createFlag
}

async function createFlag(send: Send, { project }: Place, own: Own): Promise<void> {
  const made = await send('flag', 'POST', `${project}/feature_flags/`, marker => ({ key: marker, name: marker }))
  if (!made) return
  own.flag = made.id as number
  own.flagKey = made.key as string
  delete own.grant
}

async function changeFlag(send: Send, place: Place, own: Own, random: () => number): Promise<void> {
  if (own.flag === undefined) return createFlag(send, place, own)
  const filters = { groups: [{ properties: [], rollout_percentage: Math.round(random() * 100) }] }
  await send('flag', 'PATCH', `${place.project}/feature_flags/${own.flag}/`, name => ({ name, filters }))
}

async function deleteAndRestore(send: Send, place: Place, own: Own): Promise<void> {
  if (own.flag === undefined) return createFlag(send, place, own)
  for (const deleted of [true, false]) {
    await send('flag', 'PATCH', `${place.project}/feature_flags/${own.flag}/`, name => ({ name, deleted }))
  }
}

async function changeShared(
  send: Send,
  { project }: Place,
  _own: Own,
  _random: unknown,
  shared: number,
): Promise<void> {
  await send('flag', 'PATCH', `${project}/feature_flags/${shared}/`, marker => ({ name: marker, tags: [marker] }))
}

async function grantOrRevoke(send: Send, { project }: Place, own: Own): Promise<void> {
  if (own.flag === undefined || own.role === undefined) return
  const path = `${project}/feature_flags/${own.flag}/role_access/`
  const marker = `${own.flag} ${own.role}`
  if (own.grant) {
    await send('grant', 'DELETE', `${path}${own.grant.id}/`, () => undefined, {
      markers: () => [own.grant?.marker ?? ''],
      effect: 'removes',
    })
    delete own.grant
    // A role can be granted once per flag, so the next grant uses another role.
    delete own.role
    return
  }
  const made = await send('grant', 'POST', path, () => ({ role_id: own.role }), { markers: () => [marker] })
  if (made) own.grant = { id: made.id as number, marker }
}

async function writePlugin(
  send: Send,
  { project, organization }: Place,
  own: Own,
  random: () => number,
): Promise<void> {
  const plugins = `${organization}/plugins/`
  const dice = random()
  if (own.plugin === undefined || dice < 0.2) {
    own.plugin = (await send('plugin', 'POST', plugins, name => ({ name })))?.id as number
    delete own.config
  } else if (dice < 0.5) {
    const file = (marker: string) => `${marker}.txt`
    await send('file', 'PATCH', `${plugins}${own.plugin}/update_source/`, marker => ({ [file(marker)]: marker }), {
      markers: marker => [file(marker)],
    })
  } else if (dice < 0.7) {
    await send('change', 'PATCH', `${plugins}${own.plugin}/`, description => ({ description }))
  } else if (own.config === undefined) {
    const body = { plugin: own.plugin, enabled: false, order: 1, config: {} }
    own.config = (await send('config', 'POST', `${project}/plugin_configs/`, name => ({ ...body, name })))?.id as number
  }
}

async function writeCohort(send: Send, { project }: Place, own: Own, random: () => number): Promise<void> {
  if (own.cohort === undefined || random() < 0.4) {
    own.cohort = (await send('cohort', 'POST', `${project}/cohorts/`, name => ({ name, is_static: true })))
      ?.id as number
  } else {
    await send('change', 'PATCH', `${project}/cohorts/${own.cohort}/`, description => ({ description }))
  }
}

async function schedule(send: Send, { project }: Place, own: Own): Promise<void> {
  if (own.flag === undefined) return
  await send('schedule', 'POST', `${project}/scheduled_changes/`, marker => ({
    record_id: String(own.flag),
    model_name: 'FeatureFlag',
    payload: { operation: 'update', value: { name: marker } },
    scheduled_at: '2999-01-01T00:00:00Z',
  }))
}

/** Copies to two projects in one request: both have the flag, or neither. */
async function copy(send: Send, { project, organization, copiesTo }: Place, own: Own): Promise<void> {
  if (own.flagKey === undefined || copiesTo.length < 2) return
  const key = own.flagKey
  const body = {
    feature_flag_key: key,
    from_project: Number(project.split('/').at(-1)),
    target_project_ids: [...copiesTo],
  }
  delete own.flagKey
  await send('copy', 'POST', `${organization}/feature_flags/copy_flags/`, () => body, {
    markers: () => copiesTo.map(id => `${key} in ${id}`),
  })
}

/** Several persons in one batch: all of them exist, or none. */
async function sendEvents(send: Send, { token }: Place): Promise<void> {
  const ids = (marker: string) => Array.from({ length: eventsInBatch }, (_, index) => `${marker}-${index}`)
  const batchOf = (marker: string) =>
    ids(marker).map(id => ({ event: 'seen', distinct_id: id, properties: { $set: { marker } } }))
  await send('person', 'POST', '/batch/', marker => ({ api_key: token, batch: batchOf(marker) }), { markers: ids })
}

export async function addressesOf(url: string): Promise<{ project: string; organization: string; token: string }> {
  const response = await fetch(`${url}/api/projects/?limit=1000`, { headers: { authorization: `Bearer ${ownerKey}` } })
  const { results } = (await response.json()) as { results: { id: number; organization: string; api_token: string }[] }
  const [first] = results.sort((a, b) => a.id - b.id)
  return {
    project: `/api/projects/${first?.id}`,
    organization: `/api/organizations/${first?.organization}`,
    token: String(first?.api_token),
  }
}
