import { readBearer, unauthenticated } from '../features/identity/authenticator.ts'
import { hashSecret } from '../features/identity/secret.ts'
import type { Authenticator } from '../http/server/authenticator.ts'
import type { Instant } from '../instant.ts'
import { missing } from '../problem.ts'
import { levelInProject } from '../tenancy.ts'
import type { Replica } from './replica.ts'

/** Authenticates by the keys that the upstream has replicated. */
export function createEdgeGate(replica: Replica, now: () => Instant): Authenticator {
  const authenticate: Authenticator['authenticate'] = async authorization => {
    const holder = await replica.findActor(hashSecret(readBearer(authorization)))
    const isExpired = holder && holder.key.expiresAt !== null && holder.key.expiresAt <= now()
    if (!holder || isExpired) throw unauthenticated('authentication_failed', 'This API key is not valid on this edge.')
    return holder.actor
  }
  return {
    authenticate,
    authenticateAgain: authenticate,
    async projectFor(actor, id) {
      const projectId = id === '@current' ? actor.currentProjectId : Number(id)
      const project = projectId === null ? undefined : replica.findById(projectId)
      if (!project || levelInProject(actor, project) === undefined) throw missing('Project')
      return project
    },
    async organizationFor() {
      throw missing('Organization')
    },
    async scimHolder() {
      throw missing('Organization')
    },
  }
}
