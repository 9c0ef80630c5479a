import {
  adminLevel,
  auditorLevel,
  type Level,
  levels,
  memberLevel,
  ownerLevel,
  viewOnlyLevel,
} from '@halyard/contract/levels'
import type { Instant } from './instant.ts'
import type { Origin } from './origin.ts'
import { forbidden } from './problem.ts'

/** The nouns that every request is about: who calls, and inside which organization and project. */

export { adminLevel, auditorLevel, type Level, memberLevel, ownerLevel, viewOnlyLevel }
export const isLevel = (value: number): value is Level => (levels as readonly number[]).includes(value)

export interface User {
  readonly id: number
  readonly uuid: string
  readonly distinctId: string
  readonly firstName: string
  readonly email: string
  readonly isEmailVerified: boolean
}

export interface Organization {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly pluginsAccessLevel: number
  /** What members without a role can do with flags: 21 view, 37 edit. */
  readonly defaultAccessLevel: number
  /** Members who sign in with a password need a second factor. */
  readonly requiresSecondFactor: boolean
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface PreviousToken {
  readonly token: string
  readonly expiresAt: Instant
}

export interface Project {
  readonly id: number
  readonly uuid: string
  readonly organizationId: string
  readonly name: string
  readonly apiToken: string
  /** After a rotation with an overlap: accepted until it expires. */
  readonly previousToken?: PreviousToken | undefined
  readonly timezone: string
  readonly propertyMatchingVersion: 1 | 2
  /** Group type index ('0'…'4') → name. */
  readonly groupTypes: Readonly<Record<string, string>>
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** Whether a client with this token belongs to the project. */
export type AcceptsToken = (project: Pick<Project, 'apiToken' | 'previousToken'>, token: string) => boolean

export const acceptsToken = (
  { apiToken, previousToken }: Pick<Project, 'apiToken' | 'previousToken'>,
  token: string,
  now: number = Date.now(),
): boolean => apiToken === token || (previousToken?.token === token && Date.parse(previousToken.expiresAt) > now)

export interface ActorKey {
  readonly id: string
  readonly label: string
  readonly scopes: readonly string[]
  /** Empty means no restriction. */
  readonly projectIds: readonly number[]
  readonly organizationIds: readonly string[]
  readonly isSession: boolean
  /** The sign-in that a session belongs to. */
  readonly signInId?: string | null
  readonly expiresAt: Instant | null
}

/** A user acting through a personal API key. */
export interface Actor {
  readonly user: User
  /** Instance administrator: decides what organizations may do with plugins. */
  readonly isStaff: boolean
  /** No person: the account of a service key. */
  readonly isService?: boolean
  readonly key: ActorKey
  readonly levels: ReadonlyMap<string, Level>
  readonly currentOrganizationId: string | null
  readonly currentProjectId: number | null
  /** The request that the actor makes, for the audit log. */
  readonly origin?: Origin | undefined
  /** A sign-in with a password of a user whose organization requires a second factor, and who has none. */
  readonly lacksSecondFactor?: boolean
}

/** Undefined when the actor is not in the organization, or the key is not for it. */
export function levelIn(actor: Actor, organizationId: string): Level | undefined {
  const { organizationIds, projectIds } = actor.key
  if (organizationIds.length > 0 && !organizationIds.includes(organizationId)) return undefined
  if (projectIds.length > 0 && organizationIds.length === 0) return undefined
  return actor.levels.get(organizationId)
}

/** Undefined when the actor cannot see the project: not in its organization, an auditor, or the key is restricted to others. */
export function levelInProject(actor: Actor, project: Pick<Project, 'id' | 'organizationId'>): Level | undefined {
  const { organizationIds, projectIds } = actor.key
  const isKeyFor =
    (projectIds.length === 0 && organizationIds.length === 0) ||
    projectIds.includes(project.id) ||
    organizationIds.includes(project.organizationId)
  const level = isKeyFor ? actor.levels.get(project.organizationId) : undefined
  return level !== undefined && level >= viewOnlyLevel ? level : undefined
}

export function requireLevel(actor: Actor, organizationId: string, needed: Level, toDoWhat: string): void {
  if ((actor.levels.get(organizationId) ?? auditorLevel) < needed) {
    throw forbidden(
      `You need to be ${needed === ownerLevel ? 'the owner' : 'an admin'} of the organization to ${toDoWhat}.`,
    )
  }
}

/** True when the key holds one of the scopes; `X:write` and `X:decide` include `X:read`, and `*` everything. */
export function hasAnyScope(key: ActorKey, needed: readonly string[]): boolean {
  if (needed.length === 0 || key.scopes.includes('*')) return true
  return needed.some(scope => {
    const [object, action] = scope.split(':')
    if (key.scopes.includes(scope)) return true
    return action === 'read' && (key.scopes.includes(`${object}:write`) || key.scopes.includes(`${object}:decide`))
  })
}
