import type { Actor, Organization, Project } from '../../tenancy.ts'

export interface ScimHolder {
  /** The account without a person that acts through the token. */
  readonly actor: Actor
  readonly organization: Organization
}

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
  /** By a SCIM token of the organization. Raises `unauthenticated` for every other credential and organization. */
  scimHolder(authorization: string | undefined, organizationId: string): Promise<ScimHolder>
}
