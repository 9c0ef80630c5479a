import type { Actor, Organization, Project } from '../../tenancy.ts'

/** Authentication, as the HTTP layer uses it; implemented in `features/identity/`. */
export interface Authenticator {
  /** Raises `unauthenticated`, and `forbidden` for a user who must set up a second factor first, unless for doing so. */
  authenticate(authorization: string | undefined, isForSetUp?: boolean): Promise<Actor>
  /** For a caller that was authenticated before, at little cost: from what this node has received. Raises the same. */
  authenticateAgain(authorization: string | undefined, isForSetUp?: boolean): Promise<Actor>
  /** Raises `missing`, alike for a project that does not exist and one that the actor may not see. */
  projectFor(actor: Actor, id: string, token: string | undefined): Promise<Project>
  /** Raises `missing` in the same way. */
  organizationFor(actor: Actor, id: string): Promise<Organization>
}
