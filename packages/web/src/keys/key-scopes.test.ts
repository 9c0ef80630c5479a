import { describe, expect, it } from 'vitest'
import { accessOf, keyPresets, noAccess, scopesOf } from './key-scopes.ts'

describe('the scopes of a key', () => {
  it('are none unless chosen', () => {
    expect(scopesOf(noAccess, false)).toEqual([])
  })

  it('name the level of each resource', () => {
    expect(scopesOf(keyPresets.readFlags, false).sort()).toEqual(['cohort:read', 'feature_flag:read', 'project:read'])
    expect(scopesOf(keyPresets.editFlags, false)).toContain('feature_flag:write')
    expect(scopesOf(keyPresets.readAll, false).every(scope => scope.endsWith(':read'))).toBe(true)
  })

  it('are everything only by an explicit choice', () => {
    expect(scopesOf(keyPresets.full, false)).not.toContain('*')
    expect(scopesOf(noAccess, true)).toEqual(['*'])
  })

  it('are read back as the levels they came from', () => {
    expect(accessOf(scopesOf(keyPresets.editFlags, false))).toEqual(keyPresets.editFlags)
    expect(accessOf(scopesOf(keyPresets.full, false))).toEqual(keyPresets.full)
    expect(accessOf(['feature_flag:write', 'feature_flag:read']).feature_flag).toBe('write')
  })
})
