/**
 * Objects that a scope of a personal API key can refer to. `X:write` implies `X:read`; `*` grants everything.
 * Deciding about changes and about the rules for them are objects of their own: a key that writes flags must not lift its own control.
 */
export const scopeObjects = [
  'activity_log',
  'approval_policy',
  'audit_log',
  'change_request',
  'cohort',
  'dashboard',
  'edge',
  'feature_flag',
  'flag_override',
  'freeze',
  'group',
  'organization',
  'organization_member',
  'person',
  'plugin',
  'project',
  'user',
] as const
export type ScopeObject = (typeof scopeObjects)[number]
export type Scope = `${ScopeObject}:${'read' | 'write'}`
