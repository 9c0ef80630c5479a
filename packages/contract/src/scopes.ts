/** Objects that a scope of a personal API key can refer to. `X:write` implies `X:read`; `*` grants everything. */
export const scopeObjects = [
  'activity_log',
  'cohort',
  'dashboard',
  'edge',
  'feature_flag',
  'flag_override',
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
