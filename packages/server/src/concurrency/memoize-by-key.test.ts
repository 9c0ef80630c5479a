import { expect, it } from 'vitest'
import { memoizeByKey } from './memoize-by-key.ts'

it('computes each key once, refusals included, and forgets the least recently used', () => {
  const computed: string[] = []
  const lengthOf = memoizeByKey(2, key => {
    computed.push(key)
    return key === '' ? undefined : key.length
  })
  expect(['', 'one', '', 'one'].map(lengthOf)).toEqual([undefined, 3, undefined, 3])
  expect(computed).toEqual(['', 'one'])
  lengthOf('three')
  lengthOf('')
  expect(computed).toEqual(['', 'one', 'three', ''])
})
