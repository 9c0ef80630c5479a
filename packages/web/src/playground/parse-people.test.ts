import { describe, expect, it } from 'vitest'
import { parsePeople, parseProperties } from './parse-people.ts'

describe('pasted people', () => {
  it('are ids, one per line', () => {
    expect(parsePeople(' user-1\n\nuser,2 \r\n')).toEqual([{ distinct_id: 'user-1' }, { distinct_id: 'user,2' }])
    expect(parsePeople('  ')).toEqual([])
  })

  it('are CSV when the header names the id', () => {
    expect(parsePeople('plan,distinct_id,age\n"pro, yearly",a,41\n,b,\nfree,,3')).toEqual([
      { distinct_id: 'a', person_properties: { plan: 'pro, yearly', age: 41 } },
      { distinct_id: 'b', person_properties: {} },
    ])
  })

  it('are JSON: ids, or objects with properties', () => {
    expect(parsePeople('["a", 2]')).toEqual([{ distinct_id: 'a' }, { distinct_id: '2' }])
    expect(parsePeople('[{"id": "a", "plan": "pro"}, {"distinct_id": "b", "properties": {"n": 1}}, {}]')).toEqual([
      { distinct_id: 'a', person_properties: { plan: 'pro' } },
      { distinct_id: 'b', person_properties: { n: 1 } },
    ])
    expect(parsePeople('[{"id":')).toBeUndefined()
  })

  it('can share what-if properties, which keep their types', () => {
    expect(parseProperties('plan = pro\nage=41\nbeta = true\nnonsense\n= x')).toEqual({
      plan: 'pro',
      age: 41,
      beta: true,
    })
  })
})
