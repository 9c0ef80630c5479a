import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PropertyLines } from './property-lines.ts'

/** Names and strings that resemble each other, keys, or closing characters. */
const oddText = fc.oneof(
  fc.constantFrom(
    'plan',
    'a',
    'x"plan',
    '"plan":',
    ',"plan":"x"',
    '{',
    '}',
    '\\',
    '\\"',
    '\n',
    'ü',
    '🦔',
    '',
    '__proto__',
    'null',
  ),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
)
const value = fc.oneof(
  oddText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(oddText, { maxLength: 3 }),
  fc.dictionary(oddText, oddText, { maxKeys: 3 }),
)
const lines = fc.array(fc.dictionary(oddText, value, { maxKeys: 6 }), { maxLength: 20 })

describe('PropertyLines', () => {
  it('extracts the same values as JSON.parse', () => {
    fc.assert(
      fc.property(lines, fc.uniqueArray(oddText, { maxLength: 4 }), (objects, names) => {
        const reader = new PropertyLines(names)
        reader.open(objects.map(object => JSON.stringify(object)).join('\n'))
        const values: (string | undefined)[] = names.map(() => undefined)
        for (const object of objects) {
          const parsed = JSON.parse(JSON.stringify(object))
          reader.read(values)
          expect(values.map(text => (text === undefined ? undefined : JSON.parse(text)))).toEqual(
            names.map(name => (Object.hasOwn(parsed, name) ? parsed[name] : undefined)),
          )
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('can be reopened', () => {
    const reader = new PropertyLines(['a'])
    const values: (string | undefined)[] = [undefined]
    reader.open('{"b":1}\n{"a":{"a":2}}')
    reader.read(values)
    expect(values).toEqual([undefined])
    reader.read(values)
    expect(values).toEqual(['{"a":2}'])
    reader.open('{"a":"x"}')
    reader.read(values)
    expect(values).toEqual(['"x"'])
  })
})
