import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseJson, placeOf, positionOfKey } from './json-file.ts'

it.each([
  ['', 'f.json:1:1: this is not JSON; expected a value.'],
  ['{\n  "a": 1,\n}', 'f.json:3:1: this is not JSON; expected a key in double quotes.'],
  ['{"a" 1}', 'f.json:1:6: this is not JSON; expected ":".'],
  ['{"a": 1 "b": 2}', 'f.json:1:9: this is not JSON; expected "," or "}".'],
  ['[1, 2', 'f.json:1:6: this is not JSON; expected "," or "]".'],
  ['{"a": tru}', 'f.json:1:7: this is not JSON; expected a value.'],
  ['{} {}', 'f.json:1:4: this is not JSON; expected the end of the file.'],
])('%j is refused with its place', (text, message) => {
  expect(() => parseJson('/some/f.json', text)).toThrow(message)
})

it('names a place in every text that is not JSON', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', 'x'))
    .map(([text, at, added]) => text.slice(0, at % text.length) + added + text.slice((at % text.length) + 1))
  fc.assert(
    fc.property(broken, text => {
      try {
        parseJson('f.json', text)
      } catch (error) {
        expect((error as Error).message).toMatch(/^f\.json:\d+:\d+: /)
      }
    }),
  )
})

it('finds a key of the outermost object only', () => {
  const text = '{\n "a": {"b": 1},\n "b": 2\n}'
  expect(placeOf('f.json', text, positionOfKey(text, 'b'))).toBe('f.json:3:2')
  expect(positionOfKey(text, 'c')).toBe(0)
})
