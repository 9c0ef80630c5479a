import { readBearer, unauthenticated } from '../features/identity/authenticator.ts'
import { hashSecret } from '../features/identity/secret.ts'
import type { Authenticator } from '../http/server/authenticator.ts'
import type { Instant } from '../instant.ts'
import { missing } from '../problem.ts'
import { levelInProject } from '../tenancy.ts'
import type { Replica } from './replica.ts'

/** Authenticates by the keys that the upstream has replicated. */
export function createEdgeGate(replica: Replica, now: () => Instant): Authenticator {
  return {
    async authenticate(authorization) {
      const found = await replica.findActor(hashSecret(readBearer(authorization)))
      const isExpired = found && found.key.expiresAt !== null && found.key.expiresAt <= now()
      if (!found || isExpired) throw unauthenticated('authentication_failed', 'This API key is not valid on this edge.')
      return found.actor
    },
    async projectFor(actor, id) {
      const projectId = id === '@current' ? actor.currentProjectId : Number(id)
      const project = projectId === null ? undefined : replica.findById(projectId)
      if (!project || levelInProject(actor, project) === undefined) throw missing('Project')
      return project
    },
    async organizationFor() {
      throw missing('Organization')
    },
  }
}
