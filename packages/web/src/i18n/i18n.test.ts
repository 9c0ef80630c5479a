import { describe, expect, it } from 'vitest'
import { chooseLanguage } from './choose-language.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { formatsOf } from './formats.ts'

describe('the language', () => {
  it.each([
    [null, ['de-AT'], 'de'],
    [null, ['en-US@posix'], 'en'],
    [null, ['fr-FR', 'de'], 'de'],
    [null, ['fr'], 'en'],
    [null, [], 'en'],
    ['de', ['en-US'], 'de'],
    ['en', ['de'], 'en'],
    ['xx', ['de'], 'de'],
    ['', ['de'], 'de'],
  ] as const)('with %j stored and %j preferred is %s', (stored, preferred, expected) => {
    expect(chooseLanguage(stored, preferred)).toBe(expected)
  })
})

describe('formats', () => {
  const english = formatsOf('en')
  const german = formatsOf('de')
  const now = Date.parse('2026-06-15T12:00:00Z')
  const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()

  it.each([
    [0, 'now'],
    [-44, 'now'],
    [-46, '1 minute ago'],
    [-59 * 60, '59 minutes ago'],
    [-60 * 60, '1 hour ago'],
    [-23 * 3600, '23 hours ago'],
    [-24 * 3600, '1 day ago'],
    [3 * 24 * 3600, 'in 3 days'],
    [-44 * 24 * 3600, '44 days ago'],
  ])('a distance of %i seconds is %s', (seconds, text) => {
    expect(english.ago(at(seconds), now)).toBe(text)
  })

  it('a long distance is a date', () => {
    expect(english.ago(at(-100 * 24 * 3600), now)).toBe(english.day(at(-100 * 24 * 3600)))
  })

  it('numbers follow the language', () => {
    expect(english.count(1234567)).toBe('1,234,567')
    expect(german.count(1234567)).toBe('1.234.567')
    expect(english.percent(12.345)).toBe('12.35%')
    expect(german.percent(50)).toBe('50\u00a0%')
  })
})

/** Every message as [path, sample text]; functions get one sample argument per parameter. */
function texts(messages: object, path = ''): [string, string][] {
  return Object.entries(messages).flatMap(([key, value]): [string, string][] => {
    const here = path === '' ? key : `${path}.${key}`
    if (typeof value === 'string') return [[here, value]]
    if (typeof value === 'function') return [[here, String(value(...Array.from({ length: 5 }, () => '2')))]]
    return typeof value === 'object' && value !== null ? texts(value, here) : []
  })
}

describe('messages', () => {
  const all = texts(en)

  it('in both languages have the same keys, apart from server texts', () => {
    const keys = (messages: object) =>
      texts(messages)
        .map(([path]) => path)
        .filter(path => !/^(problems|issues|plugins\.catalogTexts)\./.test(path))
    expect(keys(de)).toEqual(keys(en))
  })

  it('are never undefined or empty, except for the names of default states', () => {
    const blank = [...all, ...texts(de)].filter(([, text]) => text === '' || text.includes('undefined'))
    expect(new Set(blank.map(([path]) => path))).toEqual(
      new Set(['plugins.stepStates.waiting', 'plugins.fileStates.same']),
    )
  })

  it('use US spelling', () => {
    const british = /e-mail|cancelled|colour|catalogue|favourite|behaviour|\blicence\b|\w+isation\b/i
    expect(all.filter(([, text]) => british.test(text))).toEqual([])
  })

  it('in German name the settings of a project, not its end', () => {
    expect(de.shell.projectSettings).toBe('Projekteinstellungen')
    expect(texts(de).filter(([, text]) => /Projekt einstellen/.test(text))).toEqual([])
  })

  it('use curly apostrophes and no straight quotes', () => {
    const straight = [...all, ...texts(de)].filter(
      ([path, text]) => /['"]/.test(text) && !path.endsWith('resetCommand'),
    )
    expect(straight).toEqual([])
  })

  it('that label a control have no full stop', () => {
    const labels = /^(tabs|fields|operators|shell|shortcuts|reasons|versions)\./
    expect(all.filter(([path, text]) => labels.test(path) && text.endsWith('.'))).toEqual([])
  })
})
