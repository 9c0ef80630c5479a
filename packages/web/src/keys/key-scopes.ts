import { fullScopeOf, type ScopeObject, scopeObjects } from '@halyard/contract'

export const accessLevels = ['none', 'read', 'write'] as const
export type AccessLevel = (typeof accessLevels)[number]

/** What a key can do, by resource. */
export type KeyAccess = Readonly<Record<ScopeObject, AccessLevel>>

const everywhere = (level: AccessLevel): KeyAccess => perObject(() => level)

function perObject(levelOf: (object: ScopeObject) => AccessLevel): KeyAccess {
  return Object.fromEntries(scopeObjects.map(object => [object, levelOf(object)])) as Record<ScopeObject, AccessLevel>
}

export const noAccess: KeyAccess = everywhere('none')

/** Usual purposes. `full` is the only one with access to everything that exists now and later. */
export const keyPresets = {
  readFlags: { ...noAccess, feature_flag: 'read', cohort: 'read', project: 'read' },
  editFlags: { ...noAccess, feature_flag: 'write', cohort: 'write', project: 'read', activity_log: 'read' },
  readAll: everywhere('read'),
  full: everywhere('write'),
} as const satisfies Record<string, KeyAccess>

export type KeyPreset = keyof typeof keyPresets

/** The scopes for the API. Write includes read. Full access is a choice of its own, never the result of an empty form. */
export function scopesOf(access: KeyAccess, isFull: boolean): string[] {
  if (isFull) return ['*']
  return scopeObjects.flatMap(object => {
    if (access[object] === 'none') return []
    return [access[object] === 'write' ? fullScopeOf(object) : `${object}:read`]
  })
}

/** What scopes grant, by resource. */
export const accessOf = (scopes: readonly string[]): KeyAccess =>
  perObject(object => {
    if (scopes.includes(fullScopeOf(object))) return 'write'
    return scopes.includes(`${object}:read`) ? 'read' : 'none'
  })
