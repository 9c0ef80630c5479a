import { type Scope, scopeObjects } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import { type Actor, hasAnyScope } from '../../tenancy.ts'

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
  /** Made by signing in; ends by itself and is not listed. */
  readonly isSession: boolean
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
  readonly expiresAt: Instant | null
}

const knownScopes = new Set<string>(['*', ...scopeObjects.flatMap(object => [`${object}:read`, `${object}:write`])])

/** Raises `invalid` for a scope that does not exist, or one that the asking key does not hold itself. */
export function checkScopes(scopes: readonly string[], actor: Actor | undefined): void {
  if (scopes.length === 0)
    throw invalid('scopes', 'required', 'Give the key at least one scope, or ["*"] for everything.')
  for (const scope of scopes) {
    if (!knownScopes.has(scope)) {
      throw invalid('scopes', 'invalid_input', `"${scope}" is not a scope. Use "*" or "<object>:read|write".`)
    }
    const isCovered =
      !actor || actor.key.scopes.includes('*') || (scope !== '*' && hasAnyScope(actor.key, [scope as Scope]))
    if (!isCovered) throw invalid('scopes', 'invalid_input', `The key you use does not hold "${scope}" itself.`)
  }
}
