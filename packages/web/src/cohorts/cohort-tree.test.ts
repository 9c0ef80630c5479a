import { describe, expect, it } from 'vitest'
import { readTree, writeTree } from './cohort-tree.ts'

const filter = (key: string, more: object = {}) => ({ key, type: 'person', operator: 'exact', value: ['x'], ...more })

describe('cohort filters', () => {
  it('round-trip, including unknown keys and negation', () => {
    const filters = {
      properties: { type: 'OR', values: [{ type: 'AND', values: [filter('plan', { extra: 1, negation: true })] }] },
    }
    expect(readTree(filters)).toEqual({ type: 'AND', members: [filter('plan', { extra: 1, negation: true })] })
    expect(writeTree(readTree(filters)!)).toEqual(filters)
  })

  it('keep filters on what people did', () => {
    const paid = { type: 'behavioral', key: 'paid', value: 'performed_event', operator: 'gte', time_value: 7 }
    const filters = { properties: { type: 'OR', values: [{ type: 'AND', values: [paid] }] } }
    expect(writeTree(readTree(filters)!)).toEqual(filters)
  })

  it('keep nested groups', () => {
    const inner = { type: 'OR', values: [filter('b'), filter('c')] }
    const filters = { properties: { type: 'AND', values: [{ type: 'AND', values: [filter('a')] }, inner] } }
    expect(writeTree(readTree(filters)!)).toEqual(filters)
  })

  it('wrap a filter next to groups in a group of its own', () => {
    const group = { type: 'OR' as const, members: [filter('b') as never] }
    expect(writeTree({ type: 'AND', members: [filter('a') as never, group] })).toEqual({
      properties: {
        type: 'AND',
        values: [
          { type: 'AND', values: [filter('a')] },
          { type: 'OR', values: [filter('b')] },
        ],
      },
    })
  })

  it('of an unknown shape are not read', () => {
    expect(readTree({ properties: { type: 'AND', values: 'x' } })).toBeUndefined()
    expect(readTree({})).toEqual({ type: 'AND', members: [] })
  })
})
