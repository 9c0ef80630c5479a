import { convertPattern } from '@halyard/migrate/importers/javascript-pattern'
import { judge } from '@halyard/migrate/importers/verdict'
import { expect, it } from 'vitest'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'

const patterns = [
  ...['^a', 'b+c?$', 'a|b', '^$', '', '\\s', '\\w-', '[ab]+', '[[]', 'a{2}', '\\u0061', 'a\\.b'],
  ...['.*', '.+', '^.*$', '^.+$', '^.*@.*$', '^.+@.+$', 'a.+', '^.+a*$', '.+.+', '(.+){2}', '.+?a'],
  ...['a.b', '^.$', '^.b', 'a.', 'a.b?', 'a.b+', '.', '..', 'a..b', '^.{2,3}$', '.?b', '^a.*b$', '(a.b)+', 'a|.'],
  ...['a[^b]a', '^[^b]$', '[^b]', 'a\\Sb', 'a\\Db', 'a[\\Wb]b', '\\W+', '^\\W+a', '^\\S+\\W*$', '\\Ba', '.\\b'],
  ...['😀', '😀+', '[😀]', '\\ud83d', '^.*😀$'],
]

/** All texts of up to four characters. */
function texts(): string[] {
  const alphabet = ['a', 'b', '@', '\n', '😀']
  let longest = ['']
  const all = [...longest]
  for (let length = 1; length <= 4; length++) {
    longest = longest.flatMap(text => alphabet.map(character => text + character))
    all.push(...longest)
  }
  return all
}

const converted = (pattern: string) =>
  judge({ kind: 'flag', sourceKey: 'f', sourceId: 'f' }, verdict => convertPattern(pattern, 'f', verdict))

it.each(patterns)('%j matches what JavaScript does, or is declared to differ', pattern => {
  const { item, result } = converted(pattern)
  const here = linearRegex(result!)
  const there = new RegExp(pattern)
  // Halves of a character are no text.
  const differing = texts().filter(text => here.test(text) !== there.test(text))
  if (item.status === 'exact') expect(differing).toEqual([])
  const bmp = differing.filter(text => !text.includes('😀'))
  expect(bmp).toEqual([])
})

it('keeps usual patterns exact', () => {
  const usual = ['^.*@example\\.com$', '@example.com$', '^.+@.+$', '^v\\d+\\.\\d+', '^(?:de|fr)-[A-Z]{2}$', '.*-beta$']
  for (const pattern of usual) expect([pattern, converted(pattern).item.status]).toEqual([pattern, 'exact'])
})

it.each(['(?=a)', '(?<n>a)', '\\1', '\\p{L}', '[]', '['])('%j is refused', pattern => {
  expect(converted(pattern).item.status).toBe('refused')
})
