import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { conditionSentence, readCondition, writeCondition } from './policy-condition.ts'

describe('the condition of a policy', () => {
  it.each([
    [{}, 'always'],
    [{ type: 'any_change', field: 'name' }, 'when Description changes'],
    [
      { type: 'before_after', field: 'rollout_percentage', operator: '>', value: 50 },
      'when Rollout percentage becomes > 50',
    ],
    [
      { type: 'change_amount', field: 'rollout_percentage', operator: '>=', value: 10 },
      'when Rollout percentage changes by >= 10',
    ],
    [{ type: 'people_affected', value: 1000 }, 'when more than 1000 people are affected'],
    [{ type: 'losses', value: 5 }, 'when more than 5 people lose the flag'],
    [{ type: 'tag', value: 'checkout' }, 'when the flag has the tag checkout'],
    [{ type: 'author_is_key' }, 'when an API key makes the change'],
  ])('%j is read, written and put into words', (condition, sentence) => {
    const draft = readCondition(condition)
    expect(draft && writeCondition(draft)).toEqual(condition)
    expect(conditionSentence(condition, en)).toBe(sentence)
  })

  it('that combines others cannot be edited, but is put into words', () => {
    const both = { type: 'all', conditions: [{ type: 'author_is_key' }, { type: 'losses', value: 5 }] }
    expect(readCondition(both)).toBeUndefined()
    expect(conditionSentence(both, en)).toBe(
      'when an API key makes the change and when more than 5 people lose the flag',
    )
  })
})
