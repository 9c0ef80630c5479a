import { describe, expect, it } from 'vitest'
import { jsonErrorPosition } from './json-error.ts'

describe('the position of a JSON error', () => {
  it.each(['1', '""', '{}', '[]', ' {"a": [1, -2.5e3, true, null], "b": {"c": "\\u00e9\\n"}} '])(
    'is undefined for %s',
    text => expect(jsonErrorPosition(text)).toBeUndefined(),
  )

  it.each([
    ['', 1, 1],
    ['x', 1, 1],
    ['{a: 1}', 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{"a": 1 "b": 2}', 1, 9],
    ['{"a": tru}', 1, 7],
    ['[1, 2', 1, 6],
    ['[01]', 1, 3],
    ['{"a" 1}', 1, 6],
    ['"open', 1, 1],
    ['{}\n{}', 2, 1],
    ['{\n  "a": 1,\n  "b": \n}', 4, 1],
  ])('of %j is line %i, column %i', (text, line, column) => {
    expect(jsonErrorPosition(text)).toEqual({ line, column })
  })

  it('is found in deeply nested input without a stack overflow', () => {
    expect(jsonErrorPosition(`${'['.repeat(500)}x`)).toEqual({ line: 1, column: 501 })
  })
})
