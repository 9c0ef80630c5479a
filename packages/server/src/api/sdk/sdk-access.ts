import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import type { ActorCache } from '../../features/identity/actor-cache.ts'
import { hashSecret } from '../../features/identity/secret.ts'
import { forbidden, missing, Problem } from '../../problem.ts'
import {
  type AcceptsToken,
  type Actor,
  acceptsToken as acceptsOwnToken,
  hasAnyScope,
  levelInProject,
} from '../../tenancy.ts'

/** Authorizes SDKs by the project's secret key, a personal API key or, where that suffices, its public token. */
export interface SdkAccess {
  /** The project whose definitions the key may read. Raises `unauthenticated`, `forbidden`, `unavailable`. */
  toDefinitions(key: string | undefined, token: string | undefined): Promise<ServedProject>
  /** The same for a project by its id. Raises `missing` both for an unknown project and for one without access. */
  toDefinitionsOf(key: string | undefined, projectId: string): Promise<ServedProject>
  /** The project whose flags the key may evaluate; its public token suffices. Raises the same. */
  toEvaluation(key: string | undefined): Promise<ServedProject>
}

interface Deps {
  readonly snapshots: Snapshots
  readonly actors: ActorCache
  /** The current project of a user. Raises `missing`. */
  readonly currentProjectOf: (actor: Actor) => Promise<{ readonly id: number }>
  readonly acceptsToken?: AcceptsToken
}

export function createSdkAccess({
  snapshots,
  actors,
  currentProjectOf,
  acceptsToken = acceptsOwnToken,
}: Deps): SdkAccess {
  async function bySecretKey(key: string, token: string | undefined): Promise<ServedProject> {
    const served = await snapshots.forSecretKey(hashSecret(key))
    if (!served) throw refused('This secret key is not valid. It may have been revoked.')
    if (token !== undefined && !acceptsToken(served.project, token)) {
      throw refused('The secret key and the token are of different projects.')
    }
    return served
  }

  async function byPersonalKey(key: string, token: string | undefined): Promise<ServedProject> {
    const actor = await actors.find(key)
    if (!hasAnyScope(actor.key, ['feature_flag:read'])) throw lacksScope()
    const served =
      token === undefined
        ? await snapshots.forProject((await currentProjectOf(actor)).id)
        : await snapshots.forToken(token)
    // Does not reveal whether a token exists that the caller has no access to.
    if (!served || levelInProject(actor, served.project) === undefined) {
      throw refused('This key has no access to a project with this token.')
    }
    return served
  }

  return {
    async toDefinitions(key, token) {
      if (key === undefined) {
        throw refused(credentialRequired)
      }
      if (key.startsWith('phc_')) {
        throw refused('The project token is public; definitions need a personal API key or a project secret key.')
      }
      return key.startsWith('phs_') ? bySecretKey(key, token) : byPersonalKey(key, token)
    },
    async toDefinitionsOf(key, projectId) {
      const id = /^\d{1,15}$/.test(projectId) ? Number(projectId) : undefined
      const served = id === undefined ? undefined : await snapshots.forProject(id)
      if (key?.startsWith('phs_')) {
        const own = await bySecretKey(key, undefined)
        if (own.project.id !== id) throw missing('Project')
        return own
      }
      if (key === undefined || key.startsWith('phc_')) throw refused(credentialRequired)
      const actor = await actors.find(key)
      if (!hasAnyScope(actor.key, ['feature_flag:read'])) throw lacksScope()
      if (!served || levelInProject(actor, served.project) === undefined) throw missing('Project')
      return served
    },
    async toEvaluation(key) {
      if (key === undefined) {
        throw refused('Send the project token, a secret key or a personal API key as "Authorization: Bearer <key>".')
      }
      if (key.startsWith('phs_')) return bySecretKey(key, undefined)
      if (key.startsWith('phx_')) return byPersonalKey(key, undefined)
      const served = snapshots.cached(key) ?? (await snapshots.forToken(key))
      if (!served) throw refused('No project has this token.')
      return served
    },
  }
}

/** The credential of a request: `Authorization: Bearer` or `X-API-Key`. */
export function credentialOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const bearer = /^\s*bearer\s+(\S+)\s*$/i.exec(String(headers.authorization ?? ''))?.[1]
  const key = headers['x-api-key']
  return bearer ?? (typeof key === 'string' && key !== '' ? key : undefined)
}

const credentialRequired =
  'Send a personal API key or a project secret key in the header "Authorization: Bearer <key>".'

const lacksScope = (): Problem => forbidden('This key lacks the scope feature_flag:read.')

const refused = (message: string): Problem => new Problem('unauthenticated', message)
