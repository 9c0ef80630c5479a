import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

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
  [/\btime on the wall\b/i, 'wall-clock time'],
  [/\b(?:tenth|ninetieth|nine(?:ty)?-?ninth) hundredth\b|\bhundredths\b/i, 'percentile: p10, p90, p99'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\blets? (?:somebody |people |us |it )?in\b/i, 'authenticate, authorize or grant'],
  [/\bglances?\b/i, 'query'],
  [/\bbreaths?\b/i, 'yield to the event loop'],
  [/\b(?:hopeless|rehearsed)\b/i, 'NonRetryableError, DryRunRollback'],
  [/\bworkshop\b/i, 'PluginBuilder'],
  [/\bin turns\b/i, 'alternately, one at a time, interleaved'],
  [/\bsteady clock\b/i, 'monotonic clock'],
  [/\bkept statements?\b/i, 'prepared query'],
  [/\blearnt\b/i, 'learned, observed or stored'],
  [/\bcall(?:ed|s)? off\b/i, 'cancel'],
  [/\brooms?\b/i, 'buffer, memory budget, quota or capacity'],
  [/\b[a-z]\w*(?<!web)Kit\b|(?<![-\w])kits?\b(?![-:])/, 'context, dependencies or builder'],
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

describe('vocabulary', () => {
  it.each(replacements)('avoids %s', (avoid, instead) => {
    const found = files.flatMap(name => {
      const lines = readFileSync(join(root, name), 'utf8').split('\n')
      return [...lines.entries()]
        .filter(([, line]) => avoid.test(line) || avoid.test(wordsOf(line)))
        .map(([index, line]) => `${name}:${index + 1}: ${line.trim().slice(0, 120)}`)
    })
    expect(found, `write instead: ${instead}`).toEqual([])
  })
})

describe('commits and files', () => {
  it('has no unfinished marks and no skipped tests in packages', () => {
    const offences = files
      .filter(name => name.startsWith('packages/') && /\.tsx?$/.test(name))
      .filter(name =>
        /\b(?:TODO|FIXME|XXX)\b|\b(?:it|test|describe)\.(?:skip|only|todo)\b/.test(
          readFileSync(join(root, name), 'utf8'),
        ),
      )
    expect(offences).toEqual([])
  })

  it('wraps documents at 120 columns, except tables, links and code', () => {
    const offences = files
      .filter(name => name.endsWith('.md'))
      .flatMap(name => {
        let isCode = false
        return readFileSync(join(root, name), 'utf8')
          .split('\n')
          .flatMap((line, index) => {
            if (line.trimStart().startsWith('```')) isCode = !isCode
            const isExempt = isCode || /^\s*\|/.test(line) || /\]\(\S+\)|https?:/.test(line)
            return line.length > 120 && !isExempt ? [`${name}:${index + 1}`] : []
          })
      })
    expect(offences).toEqual([])
  })
})
