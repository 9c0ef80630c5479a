import { describe, expect, it } from 'vitest'
import { valueFor } from './operator-kind.ts'

describe('the value after changing the operator', () => {
  it('is converted to the shape of the new operator', () => {
    expect(valueFor('exact', 'pro')).toEqual(['pro'])
    expect(valueFor('icontains', ['pro', 'team'])).toBe('pro')
    expect(valueFor('between', '3')).toEqual(['3', ''])
  })

  it('is not the name of an operator without a value', () => {
    expect(valueFor('is_not_set', 'is_set')).toBe('is_not_set')
    expect(valueFor('is_date_before', 'is_not_set')).toBe('')
    expect(valueFor('exact', 'is_set')).toEqual([])
    expect(valueFor('between', 'is_set')).toEqual(['', ''])
  })
})
