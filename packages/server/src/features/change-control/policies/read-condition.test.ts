import { describe, expect, it } from 'vitest'
import type { ActionKey } from '../../../domain/policy.ts'
import { readCondition } from './read-condition.ts'

const rollout = (operator: string, value: unknown, type = 'before_after') => ({
  type,
  field: 'rollout_percentage',
  operator,
  value,
})
const all = (...conditions: unknown[]) => ({ type: 'all', conditions })

describe('the condition of a policy', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a misspelled field', { ...rollout('>', 50), field: 'rollout_precentage' }, 'conditions.field'],
    ['a misspelled key', { type: 'any_change', feild: 'name' }, 'conditions.feild'],
    ['an unknown type', { type: 'unknown' }, 'conditions.type'],
    ['no type', { field: 'x' }, 'conditions.type'],
    ['a text for a number', rollout('>', '50'), 'conditions.value'],
    ['no value', { type: 'before_after', field: 'rollout_percentage', operator: '>' }, 'conditions.value'],
    ['the amount of a name', { ...rollout('>', 5, 'change_amount'), field: 'name' }, 'conditions.field'],
    [
      'the order of a boolean',
      { type: 'before_after', field: 'active', operator: '>', value: true },
      'conditions.operator',
    ],
    ['a number for a boolean', { type: 'before_after', field: 'active', operator: '==', value: 1 }, 'conditions.value'],
    ['an object', { type: 'before_after', field: 'filters', operator: '==', value: 'x' }, 'conditions.field'],
    [
      'an unknown choice',
      { type: 'before_after', field: 'evaluation_runtime', operator: '==', value: 'edge' },
      'conditions.value',
    ],
    ['an unknown operator', rollout('=>', 50), 'conditions.operator'],
    ['more than everyone', rollout('>', 100), 'conditions.value'],
    ['less than no one', rollout('<', 0), 'conditions.value'],
    ['an impossible amount', rollout('>', 100, 'change_amount'), 'conditions.value'],
    ['no amount at all', rollout('==', 0, 'change_amount'), 'conditions.value'],
    ['an empty tag', { type: 'tag', value: ' ' }, 'conditions.value'],
    ['fewer than no people', { type: 'losses', value: -1 }, 'conditions.value'],
    ['an empty list', all(), 'conditions.conditions'],
    ['a nested list', all(all({ type: 'author_is_key' })), 'conditions.conditions[0].conditions'],
    ['an empty condition in a list', all({}), 'conditions.conditions[0]'],
    ['a wrong one in a list', all({ type: 'author_is_key' }, rollout('>', '50')), 'conditions.conditions[1].value'],
    ['ranges without a number', all(rollout('>', 50), rollout('<=', 50)), 'conditions.conditions'],
    ['two values', all(rollout('==', 50), rollout('==', 60)), 'conditions.conditions'],
    [
      'two names',
      all(
        { type: 'before_after', field: 'name', operator: '==', value: 'a' },
        { type: 'before_after', field: 'name', operator: '==', value: 'b' },
      ),
      'conditions.conditions',
    ],
  ])('is refused with its path for %s', (_title, condition, path) => {
    expect(() => readCondition(condition, '*')).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: expect.stringMatching(new RegExp(`^${path.replace(/[.[\]]/g, '\\$&')}: `)),
      }),
    )
  })

  it.each<[ActionKey, Record<string, unknown>]>([
    ['cohort.update', rollout('>', 50)],
    ['cohort.update', { type: 'tag', value: 'checkout' }],
    ['cohort.update', all({ type: 'any_change', field: 'name' })],
    ['feature_flag.create', { type: 'losses', value: 5 }],
  ])('is refused where the action %s can never meet it', (actionKey, condition) => {
    expect(() => readCondition(condition, actionKey)).toThrow(expect.objectContaining({ kind: 'invalid' }))
    expect(() => readCondition(condition, '*')).not.toThrow()
  })

  it.each<Record<string, unknown>>([
    {},
    { type: 'any_change' },
    { type: 'any_change', field: 'tags' },
    rollout('>=', 100),
    rollout('<=', 0),
    rollout('>', 99.9, 'change_amount'),
    rollout('<', -20, 'change_amount'),
    { type: 'before_after', field: 'active', operator: '==', value: true },
    { type: 'before_after', field: 'name', operator: '!=', value: '' },
    all(rollout('>', 20), rollout('<=', 50), rollout('>', 5, 'change_amount')),
    all({ type: 'tag', value: 'a' }, { type: 'tag', value: 'b' }, { type: 'people_affected', value: 0 }),
  ])('is stored as sent: %j', condition => {
    expect(readCondition(condition, '*')).toEqual(condition)
  })
})
