import { describe, expect, it } from 'vitest'
import { en } from '../../i18n/en.ts'
import { filterSentence } from './filter-sentence.ts'
import { reasonSentence, resultSentence } from './reason.ts'
import { readTrace, type WireTrace } from './trace.ts'

const unmatched = { kind: 'property', matched: false, key: 'plan', operator: 'exact', value: ['pro'] } as const
const trace = (conditions: object[]): WireTrace =>
  ({ flag_id: 1, conditions, holdout: null, variant: null }) as unknown as WireTrace
const evaluation = (reason: string, condition_index: number | null = null) =>
  ({ reason, condition_index, description: 'From the server' }) as never

describe('the reason for a value', () => {
  it('names the deciding condition', () => {
    expect(reasonSentence(en, { code: 'condition_match', conditionIndex: 1 })).toBe('Condition 2 matched')
    expect(reasonSentence(en, { code: 'condition_match', conditionIndex: null })).toBe('A condition matched')
    expect(reasonSentence(en, { code: 'made_up', conditionIndex: 0 })).toBeUndefined()
  })

  it('names the filter that did not match when there is a single condition', () => {
    const filter = { ...unmatched, present: false }
    expect(resultSentence(en, evaluation('no_condition_match'), trace([{ filters: [filter] }]))).toBe(
      'No condition matched: plan equals “pro” – not set',
    )
    expect(
      resultSentence(en, evaluation('no_condition_match'), trace([{ filters: [filter] }, { filters: [filter] }])),
    ).toBe('No condition matched')
  })

  it('names the missing group type', () => {
    expect(resultSentence(en, evaluation('no_group_type'), trace([{ group_type: 'company', filters: [] }]))).toBe(
      'Matches by company, and no company was given',
    )
  })

  it('falls back to the server’s description', () => {
    expect(resultSentence(en, evaluation('made_up'), undefined)).toBe('From the server')
  })
})

describe('a filter in a trace', () => {
  it('shows the expected and the actual value', () => {
    expect(filterSentence(en, { ...unmatched, present: true, seen: 'free' })).toBe('plan equals “pro” – actual: “free”')
    expect(filterSentence(en, { ...unmatched, operator: 'is_set', present: false })).toBe('plan is set – not set')
  })

  it('shows cohort membership as it is', () => {
    const cohort = { kind: 'cohort', id: '5', name: 'Payers' } as const
    expect(filterSentence(en, { ...cohort, operator: 'in', matched: true })).toBe('in cohort “Payers”')
    expect(filterSentence(en, { ...cohort, operator: 'in', matched: false })).toBe('not in cohort “Payers”')
    expect(filterSentence(en, { ...cohort, operator: 'not_in', matched: false })).toBe('in cohort “Payers”')
  })

  it('shows the value of another flag', () => {
    const flag = { kind: 'flag', key: 'checkout', expected: true } as const
    expect(filterSentence(en, { ...flag, seen: true, matched: true })).toBe('flag checkout is on')
    expect(filterSentence(en, { ...flag, seen: 'b', matched: false })).toBe('flag checkout must be on, is “b”')
  })
})

describe('a trace of an unknown shape', () => {
  it('is not shown', () => {
    expect(readTrace(undefined)).toBeUndefined()
    expect(readTrace({ conditions: 5 })).toBeUndefined()
    expect(readTrace({ conditions: [] })).toEqual({ conditions: [] })
  })
})
