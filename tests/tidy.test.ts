import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

/**
 * House rules about words. Halyard uses the terms of its field, so that a reader finds what they search for. Each entry is a word
 * to avoid and what to write instead; `docs/glossary.md` defines the project's own nouns.
 */

const replacements: readonly (readonly [avoid: RegExp, instead: string])[] = [
  [/\b(?:told|tell|tells|telling)\b/i, 'serialize, emit, publish, notify, deliver, report or log'],
  [/\b(?:heard|hear|hears|hearing|unheard)\b/i, 'receive, subscribe or observe'],
  [/\b(?:nobody|somebody|whoever|whom|everybody|anybody)\b/i, 'caller, client, request, row or user; no one, anyone'],
  [/\banew\b/i, 'again'],
  [/\bmend(?:s|ed|ing)?\b|\bput right\b/i, 'fix'],
  [/\bprocessor time\b/i, 'CPU time'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\blets? (?:somebody |people |us |it )?in\b/i, 'authenticate, authorize or grant'],
  [/\bcall(?:ed|s)? off\b/i, 'cancel'],
  [/\bcatalogue\b/i, 'catalog'],
  [/\bcolours?\b/i, 'color'],
  [/\b(?:behaviour|neighbour|favour|honour)(?:s|ed|ing)?\b/i, 'behavior, neighbor, favor, honor'],
  [/\be-mails?\b/i, 'email'],
]

/** Files in which a listed word is the subject itself. */
const exempt = new Set(['tests/tidy.test.ts', 'packages/web/src/i18n/i18n.test.ts'])

const root = resolve(import.meta.dirname, '..')
const files = execFileSync(
  'git',
  [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    'packages',
    'tests',
    'bench',
    'scripts',
    'docs',
    'deploy',
    'examples',
    '*.md',
  ],
  { cwd: root, encoding: 'utf8' },
)
  .split('\n')
  .filter(name => /\.(?:ts|tsx|mjs|cjs|js|md|css|html|yaml|yml|json)$/.test(name))
  // German is another language; the OpenAPI document is generated from sources that are checked; packages have their own names.
  .filter(name => !/(?:^|[/.])de\.ts$|^docs\/reference\/openapi\.json$|package-lock\.json$/.test(name))
  .filter(name => !exempt.has(name) && existsSync(join(root, name)))

/** Splits identifiers into words, so that `startAnew` contains `anew`. */
const wordsOf = (line: string): string => line.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')

const textsOf = new Map(files.map(name => [name, readFileSync(join(root, name), 'utf8')]))
const wordsIn = [...textsOf].map(([name, text]) => [name, wordsOf(text)] as const)

it.each(replacements)('no file contains %s', (avoid, instead) => {
  const offences = wordsIn.flatMap(([name, text]) =>
    [...text.matchAll(new RegExp(avoid, 'gi'))].map(({ 0: word, index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${name}:${line}: ${word}`
    }),
  )
  expect(offences, `write instead: ${instead}`).toEqual([])
})

it('no test is skipped and no mark of unfinished work is left in packages', () => {
  const unfinished = /\b(?:TODO|FIXME|XXX)\b|\b(?:it|test|describe)\.(?:skip|only|todo)\b/
  const sources = [...textsOf].filter(([name]) => name.startsWith('packages/') && /\.tsx?$/.test(name))
  expect(sources.filter(([, text]) => unfinished.test(text)).map(([name]) => name)).toEqual([])
})
