import { allScopes, canonicalScope, fullScopeOf, type Scope, scopeObjects } from '@halyard/contract/scopes'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import { type Actor, hasAnyScope, type Level, type User } from '../../tenancy.ts'

export const keysPerUserMax = 100
export const sessionHours = 12

export interface ApiKey {
  readonly id: string
  readonly userId: number
  readonly label: string
  readonly hash: string
  readonly mask: string
  readonly scopes: readonly string[]
  readonly projectIds: readonly number[]
  readonly organizationIds: readonly string[]
  /** Created by signing in; expires and is not listed. */
  readonly isSession: boolean
  /** The sign-in that a session belongs to. */
  readonly signInId?: string | null
  /** The trust relationship whose token it was exchanged for. */
  readonly trustRelationshipId?: string | null
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
  readonly expiresAt: Instant | null
}

/** A key of the organization: its user is no person. */
export interface ServiceKey extends ApiKey {
  readonly level: Level
  readonly user: User
  readonly createdBy: User
}

const knownScopes = new Set<string>(['*', ...allScopes])

export const canonicalScopes = (scopes: readonly string[]): readonly string[] => [
  ...new Set(scopes.map(canonicalScope)),
]

/** `flags:read` → `feature_flag:read`. */
function suggestionFor(scope: string): string {
  const [object = '', action] = scope.toLowerCase().split(':')
  const name = object.replace(/s$/, '').replaceAll('-', '_')
  const near = (test: (candidate: string) => boolean) => (name === '' ? undefined : scopeObjects.find(test))
  const meant =
    near(candidate => candidate.endsWith(name)) ??
    near(candidate => candidate.includes(name) || name.includes(candidate))
  if (meant === undefined) return `Use "*", or one of: ${allScopes.join(', ')}.`
  const isWriting = action === 'write' || action === 'decide'
  return `Did you mean "${isWriting ? fullScopeOf(meant) : `${meant}:read`}"?`
}

/** Raises `invalid` for an unknown scope, or one that the key of the request does not have itself. */
export function checkScopes(scopes: readonly string[], actor: Actor | undefined): void {
  if (scopes.length === 0) throw invalid('scopes', 'required', '`scopes` needs at least one scope, or ["*"] for all.')
  for (const scope of scopes) {
    if (!knownScopes.has(scope)) {
      throw invalid(
        'scopes',
        'invalid_input',
        `\`scopes\` has an unknown scope "${scope.slice(0, 40)}". ${suggestionFor(scope)}`,
      )
    }
    const isCovered =
      !actor || actor.key.scopes.includes('*') || (scope !== '*' && hasAnyScope(actor.key, [scope as Scope]))
    if (!isCovered)
      throw invalid('scopes', 'invalid_input', `\`scopes\` has "${scope}", which the key of this request lacks.`)
  }
}
