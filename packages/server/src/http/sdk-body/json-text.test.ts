import { describe, expect, it } from 'vitest'
import { Problem } from '../../problem.ts'
import { containersMax, eachStretch, keysPerObjectMax, nestingMax, refuseHeavyJson, valuesMax } from './json-text.ts'

const refusalOf = (text: string): string | undefined => {
  try {
    refuseHeavyJson(text)
    return undefined
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unparsable') throw error
    return error.message
  }
}

const manyKeys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`

describe('a text of JSON is weighed before it is parsed', () => {
  it.each([
    ['nested without end', '['.repeat(1_000_000), /nested/],
    ['nested without end, through objects', '{"a":'.repeat(100_000), /nested/],
    ['empty objects', `[${'{},'.repeat(containersMax)}{}]`, /objects and lists/],
    ['values', `[${'1,'.repeat(valuesMax + 1)}1]`, /values/],
    ['fields of one object', manyKeys(keysPerObjectMax + 1), /fields/],
  ])('refuses too much of: %s', (_what, text, refusal) => {
    expect(refusalOf(text)).toMatch(refusal)
  })

  it.each([
    ['as many levels as allowed', `${'['.repeat(nestingMax)}"${'x'.repeat(100_000)}"${']'.repeat(nestingMax)}`],
    ['as many fields as allowed', manyKeys(keysPerObjectMax)],
    ['brackets in strings', JSON.stringify({ a: '[{'.repeat(500_000), b: '\\"[[,:'.repeat(200_000) })],
    [
      'many small objects',
      JSON.stringify(Array.from({ length: 20_000 }, () => ({ event: 'e', properties: { a: [1] } }))),
    ],
    ['what is no JSON and closes more than it opens', ']'.repeat(200_000)],
  ])('takes %s', (_what, text) => {
    expect(refusalOf(text)).toBeUndefined()
  })

  it('distinguishes strings from the text between them, however many backslashes there are', () => {
    const text = String.raw`{"a\"b":12,"c\\":"","d\\\"":[true]}"open`
    const seen: [string, string][] = []
    eachStretch(
      text,
      (from, to) => seen.push(['outside', text.slice(from, to)]),
      (from, to) => seen.push(['inside', text.slice(from, to)]),
    )
    expect(seen.map(([, piece]) => piece).join('')).toBe(text)
    expect(seen.filter(([kind]) => kind === 'outside').map(([, piece]) => piece)).toEqual([
      '{',
      ':12,',
      ':',
      ',',
      ':[true]}',
    ])
  })
})
