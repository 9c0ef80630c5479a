import { expect, test } from 'vitest'
import { isVersionInRange } from './version-range.ts'

test.each([
  ['>=1.24.0', true],
  ['>= 1.24.0', true],
  ['>=1.43.0', true],
  ['>1.43.0', false],
  ['>1.42', true],
  ['>1.43', false],
  ['1.43.0', true],
  ['=1.43.0', true],
  ['==1.43.0', true],
  ['1.43', true],
  ['1.x', true],
  ['*', true],
  ['1.44.0', false],
  ['<2', true],
  ['<1.43.0', false],
  ['<=1.43', true],
  ['<=1.42.9', false],
  ['^1.30.0', true],
  ['^0.43.0', false],
  ['~1.43.0', true],
  ['~1.42.0', false],
  ['>=1.29.0 <1.40.0', false],
  ['>=1.29.0,<2.0.0', true],
  ['1.20.0 || >=1.43.0', true],
  ['!=1.43.0', false],
  ['!= 1.42.0', true],
  ['>=1.0.0 !=1.42.0', true],
  ['~=1.43', true],
])('1.43.0 and %s: %s', (range, expected) => {
  expect(isVersionInRange('1.43.0', range)).toBe(expected)
})

test.each(['', 'latest', '!=', '!=x.y', '>=', '1.2.3.4', '=>1.0.0', '>=1.0.0 ||', 'a.b.c'])(
  '%j is not a range',
  range => {
    expect(isVersionInRange('1.43.0', range)).toBeUndefined()
  },
)
