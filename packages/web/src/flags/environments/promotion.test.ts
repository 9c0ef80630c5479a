import { describe, expect, it } from 'vitest'
import { hasChanges, itemChanges, needsApproval, nextEnvironment, promotionObstacle } from './promotion.ts'

const environment = (project: number) => ({ project, name: String(project), is_production: false })
const set = { environments: [environment(1), environment(2), environment(3)] }
const item = (fields: object) => ({ action: 'none', requires: [], changes: [], ...fields }) as never

describe('a promotion', () => {
  it('goes to the next environment, and from the last one back', () => {
    expect(nextEnvironment(set, 1)?.project).toBe(2)
    expect(nextEnvironment(set, 2)?.project).toBe(3)
    expect(nextEnvironment(set, 3)?.project).toBe(2)
  })

  it('shows changes of fields alone', () => {
    const change = { type: 'FeatureFlag', action: 'changed', before: 1, after: 2 }
    const changes = [
      { ...change, field: 'rollback_conditions' },
      { ...change, field: null },
    ]
    expect(itemChanges(item({ changes }))).toEqual([{ field: 'rollback_conditions', before: 1, after: 2 }])
  })

  it('needs approval when one flag does, and does nothing when none changes', () => {
    expect(needsApproval({ items: [item({}), item({ requires: [3] })] })).toBe(true)
    expect(needsApproval({ items: [item({})] })).toBe(false)
    expect(hasChanges({ items: [item({})] })).toBe(false)
    expect(hasChanges({ items: [item({ action: 'create' })] })).toBe(true)
  })

  it('says why a flag cannot be promoted', () => {
    const at = (project: number, flag_id: number | null, can_edit = true) => ({ project, flag_id, can_edit })
    const obstacle = (differs: boolean, source: object, target: object, canCreate = true) =>
      promotionObstacle({ differs, environments: [source, target] } as never, { from: 1, to: 2, canCreate })
    expect(obstacle(true, at(1, 5), at(2, 6))).toBeUndefined()
    expect(obstacle(true, at(1, 5), at(2, null, false))).toBeUndefined()
    expect(obstacle(true, at(1, null), at(2, 6))).toBe('missing')
    expect(obstacle(false, at(1, 5), at(2, 6))).toBe('same')
    expect(obstacle(true, at(1, 5), at(2, 6, false))).toBe('not_editable')
    expect(obstacle(true, at(1, 5), at(2, null), false)).toBe('not_editable')
    expect(obstacle(true, at(1, 5), at(3, 6))).toBe('not_editable')
  })
})
