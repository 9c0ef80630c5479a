import type { Authenticator } from '../../http/server/authenticator.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { missing, Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { createProjectCache, InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'
import { databaseProblem } from '../../storage/driver-error.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, acceptsToken, levelIn, levelInProject, type Project, viewOnlyLevel } from '../../tenancy.ts'
import type { ActorCache } from './actor-cache.ts'
import { hashSecret } from './secret.ts'

const lastUsedResolutionMilliseconds = 60 * 60 * 1000

const projectsMax = 10_000
const keysMax = 10_000

interface Deps {
  readonly database: Database
  readonly changes: ChangeFeed
  readonly actors: ActorCache
  readonly now: () => Instant
}

/**
 * Authenticates by personal API key and authorizes by membership. Actors are cached, but the node first catches up with every committed
 * change, so that a key that was just revoked on another node is refused.
 */
export function createAuthenticator({ database, changes, actors, now }: Deps): Authenticator {
  const projects = createProjectCache<Project>({
    changes,
    isConcerned: ({ topic }) => topic === 'project' || topic === 'identity',
    projectOf: project => project.id,
    sizeMax: projectsMax,
  })
  /** Until when the recorded use of a key is recent enough. */
  const usedUntil = new InvalidatedCache<Instant>({ sizeMax: keysMax })
  const recording = new Set<string>()

  /** Not awaited and never an error: reads go on while nothing can be written. */
  function recordUse(keyId: string, time: Instant): void {
    if (recording.has(keyId)) return
    recording.add(keyId)
    database
      .transaction(tx => tx.identity.touchKey(keyId, time))
      .then(() => {
        usedUntil.set(keyId, plusMilliseconds(time, lastUsedResolutionMilliseconds))
      })
      .catch(() => {})
      .finally(() => recording.delete(keyId))
  }

  return {
    async authenticate(authorization, isForSetUp = false) {
      const key = readBearer(authorization)
      await changes.catchUp().catch(error => {
        throw databaseProblem(error)
      })
      const actor = await actors.find(key, isForSetUp)
      const time = now()
      const until = usedUntil.peek(actor.key.id)
      if (until === undefined || until <= time) recordUse(actor.key.id, time)
      return actor
    },

    authenticateAgain: async (authorization, isForSetUp = false) => actors.find(readBearer(authorization), isForSetUp),

    async projectFor(actor, id, token) {
      const find = (): Promise<Project | undefined> =>
        database.read(tx => {
          if (id === '@current' && token) return projectOfToken(tx.projects, token)
          if (id === '@current') return currentProject(tx.projects, actor)
          return /^\d{1,15}$/.test(id) ? tx.projects.find(Number(id)) : Promise.resolve(undefined)
        })
      const project = await (id === '@current' ? find() : projects.get(id, find))
      if (!project || levelInProject(actor, project) === undefined) throw missing('Project')
      return project
    },

    async organizationFor(actor, id) {
      const organizationId = id === '@current' ? currentOrganizationId(actor) : id.toLowerCase()
      if (organizationId === undefined || levelIn(actor, organizationId) === undefined) throw missing('Organization')
      const organization = await database.read(tx => tx.organizations.find(organizationId))
      if (!organization) throw missing('Organization')
      return organization
    },

    async scimHolder(authorization, organizationId) {
      const hash = hashSecret(readBearer(authorization))
      const time = now()
      // Not cached: a provider sends few requests, and a revoked token stops with the next one.
      const match = await database.read(async tx => {
        const holder = await tx.scimTokens.findHolder(hash, time)
        const organization = holder && (await tx.organizations.find(holder.organizationId))
        return holder && organization && { ...holder, organization }
      })
      if (!match || match.organizationId !== organizationId.toLowerCase()) {
        throw unauthenticated('authentication_failed', 'This SCIM token is not valid for this organization.')
      }
      const { actor, organization, lastUsedAt } = match
      if (lastUsedAt === null || plusMilliseconds(lastUsedAt, lastUsedResolutionMilliseconds) <= time) {
        database.transaction(tx => tx.scimTokens.touch(actor.key.id, time)).catch(() => {})
      }
      return { actor, organization }
    },
  }
}

/** The caller's current project, or the first that the key can see. */
async function projectOfToken(projects: Stores['projects'], token: string): Promise<Project | undefined> {
  const project = await projects.findByToken(token)
  return project && acceptsToken(project, token) ? project : undefined
}

export async function currentProject(projects: Stores['projects'], actor: Actor): Promise<Project | undefined> {
  const chosen = actor.currentProjectId === null ? undefined : await projects.find(actor.currentProjectId)
  if (chosen && levelInProject(actor, chosen) !== undefined) return chosen
  const page = await projects.list(visibleProjects(actor), { limit: 1, offset: 0 })
  return page.items[0]
}

/** The projects that the actor can see through this key, as a filter. */
export function visibleProjects(actor: Actor): { organizationIds: readonly string[]; projectIds?: readonly number[] } {
  const { organizationIds, projectIds } = actor.key
  const memberOf = [...actor.levels].flatMap(([id, level]) => (level >= viewOnlyLevel ? [id] : []))
  if (organizationIds.length > 0) return { organizationIds: memberOf.filter(id => organizationIds.includes(id)) }
  return projectIds.length > 0 ? { organizationIds: memberOf, projectIds } : { organizationIds: memberOf }
}

export function currentOrganizationId(actor: Actor): string | undefined {
  const chosen = actor.currentOrganizationId
  if (chosen !== null && levelIn(actor, chosen) !== undefined) return chosen
  return [...actor.levels.keys()].find(id => levelIn(actor, id) !== undefined)
}

export function readBearer(authorization: string | undefined): string {
  const match = /^\s*bearer\s+(\S+)\s*$/i.exec(authorization ?? '')
  if (match?.[1]) return match[1]
  throw unauthenticated('not_authenticated', 'Send a personal API key in the header "Authorization: Bearer <key>".')
}

export const unauthenticated = (code: string, message: string): Problem =>
  new Problem('unauthenticated', message, { code })
