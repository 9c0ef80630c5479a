/**
 * Objects that a scope of a personal API key can refer to. `X:write` implies `X:read`; `*` grants everything.
 * Deciding about changes and about the rules for them are objects of their own: a key that writes flags must not lift its own control.
 */
export const scopeObjects = [
  'activity_log',
  'audit_log',
  'change_request',
  'cohort',
  'dashboard',
  'edge',
  'feature_flag',
  'flag_override',
  'freeze',
  'group',
  'member',
  'organization',
  'person',
  'plugin',
  'policy',
  'project',
  'user',
] as const
export type ScopeObject = (typeof scopeObjects)[number]
export type Scope =
  | `${Exclude<ScopeObject, 'change_request'>}:${'read' | 'write'}`
  | `change_request:${'read' | 'decide'}`

/** The scope that allows everything with an object. Change requests are written with the scope of what they change. */
export const fullScopeOf = (object: ScopeObject): Scope =>
  object === 'change_request' ? 'change_request:decide' : `${object}:write`

export const allScopes: readonly Scope[] = scopeObjects.flatMap(
  object => [`${object}:read`, fullScopeOf(object)] as const,
)

/** Other names of objects, which keys that exist have, and which PostHog uses. */
const objectNames: Readonly<Record<string, ScopeObject>> = { approval_policy: 'policy', organization_member: 'member' }

/** The scope as this version names it. What is no scope stays as it is. */
export function canonicalScope(scope: string): string {
  const [object = '', action, ...rest] = scope.split(':')
  const name = objectNames[object] ?? object
  if (name === 'change_request' && action === 'write' && rest.length === 0) return 'change_request:decide'
  return name === object ? scope : [name, action, ...rest].join(':')
}
