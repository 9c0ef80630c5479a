import { expect, it } from 'vitest'
import { diffLines } from './line-diff.ts'

const marks = { same: ' ', removed: '-', added: '+' }
const diff = (before: string, after: string) =>
  diffLines([...before], [...after])
    .map(({ kind, text }) => marks[kind] + text)
    .join('')

it('keeps common lines and lists removed and added ones', () => {
  expect(diff('abc', 'abc')).toBe(' a b c')
  expect(diff('abc', 'axc')).toBe(' a-b+x c')
  expect(diff('', 'ab')).toBe('+a+b')
  expect(diff('ab', '')).toBe('-a-b')
  expect(diff('abcd', 'bd')).toBe('-a b-c d')
})
