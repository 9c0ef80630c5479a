import { ownerKey } from './server-process.ts'

/** Acknowledged: a success was answered. Unknown: the answer never came, so it may be there or not. Refused: an error was answered. */
export type Outcome = 'acknowledged' | 'unknown' | 'refused'

export interface Write {
  readonly kind: 'flag' | 'role' | 'grant' | 'key'
  /** Unique text that the write leaves in the database if it happened. */
  readonly marker: string
  outcome: Outcome
  status?: number
}

export interface MixedWrites {
  readonly writes: Write[]
  /** Writes until told to stop or until the server is gone. */
  run(url: string, stop: AbortSignal): Promise<void>
}

const writersCount = 6
const requestMillisecondsMax = 30_000

/** Several writers at once, on flags of their own and on one that they all change, and on roles, grants and keys. Never the same text twice. */
export function createMixedWrites(random: () => number): MixedWrites {
  const writes: Write[] = []
  let counter = 0
  let shared: number | undefined
  let isGone = false

  async function run(url: string, stop: AbortSignal): Promise<void> {
    isGone = false
    const { project, organization } = await addressesOf(url)
    const record = createRecorder(url, writes, stop)
    const flags = `${project}/feature_flags/`
    if (shared === undefined) {
      shared = (await record('flag', 'POST', flags, marker => ({ key: `shared-${marker}`, name: marker })))
        ?.id as number
    }

    const writer = async () => {
      let own: number | undefined
      let role: string | undefined
      while (!stop.aborted && !isGone) {
        const dice = random()
        if (own === undefined || dice < 0.25) {
          own = (await record('flag', 'POST', flags, marker => ({ key: marker, name: marker })))?.id as number
        } else if (dice < 0.5) {
          await record('flag', 'PATCH', `${flags}${own}/`, marker => ({ name: marker, filters: rollout(random()) }))
        } else if (dice < 0.6) {
          await record('flag', 'PATCH', `${flags}${own}/`, marker => ({ name: marker, deleted: true }))
          await record('flag', 'PATCH', `${flags}${own}/`, marker => ({ name: marker, deleted: false }))
        } else if (dice < 0.8) {
          await record('flag', 'PATCH', `${flags}${shared}/`, marker => ({ name: marker, tags: [marker] }))
        } else if (dice < 0.88) {
          role = (await record('role', 'POST', `${organization}/roles/`, name => ({ name })))?.id as string
        } else if (dice < 0.94 && role) {
          await record('grant', 'POST', `${flags}${own}/role_access/`, () => ({ role_id: role }), `${own} ${role}`)
        } else {
          await record('key', 'POST', '/api/personal_api_keys/', label => ({ label, scopes: ['feature_flag:read'] }))
        }
      }
    }
    await Promise.all(Array.from({ length: writersCount }, writer))
  }

  /** Sends one write and notes what became of it. */
  function createRecorder(url: string, into: Write[], stop: AbortSignal) {
    return async (
      kind: Write['kind'],
      method: string,
      path: string,
      bodyFor: (marker: string) => unknown,
      marker = `w${++counter}`,
    ): Promise<Record<string, unknown> | undefined> => {
      if (stop.aborted || isGone) return undefined
      const write: Write = { kind, marker, outcome: 'unknown' }
      into.push(write)
      try {
        const response = await fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(bodyFor(marker)),
          signal: AbortSignal.timeout(requestMillisecondsMax),
        })
        // The whole answer must have come: half of one is no acknowledgement.
        const text = await response.text()
        write.status = response.status
        write.outcome = response.ok ? 'acknowledged' : 'refused'
        return response.ok ? (JSON.parse(text) as Record<string, unknown>) : undefined
      } catch {
        isGone = true
        return undefined
      }
    }
  }

  return { writes, run }
}

const rollout = (share: number) => ({ groups: [{ properties: [], rollout_percentage: Math.round(share * 100) }] })

export async function addressesOf(url: string): Promise<{ project: string; organization: string }> {
  const response = await fetch(`${url}/api/projects/`, { headers: { authorization: `Bearer ${ownerKey}` } })
  const { results } = (await response.json()) as { results: { id: number; organization: string }[] }
  const [first] = results
  return { project: `/api/projects/${first?.id}`, organization: `/api/organizations/${first?.organization}` }
}
