import { describe, expect, it } from 'vitest'
import { valueFor } from './operator-kind.ts'

describe('the value when another operator is chosen', () => {
  it('is kept in the form that the operator wants', () => {
    expect(valueFor('exact', 'pro')).toEqual(['pro'])
    expect(valueFor('icontains', ['pro', 'team'])).toBe('pro')
    expect(valueFor('between', '3')).toEqual(['3', ''])
  })

  it('is not the name of an operator that wants none', () => {
    expect(valueFor('is_not_set', 'is_set')).toBe('is_not_set')
    expect(valueFor('is_date_before', 'is_not_set')).toBe('')
    expect(valueFor('exact', 'is_set')).toEqual([])
    expect(valueFor('between', 'is_set')).toEqual(['', ''])
  })
})
