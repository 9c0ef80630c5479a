import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript-5'
import { describe, expect, it } from 'vitest'

/**
 * House rules about words and functions. Halyard uses the terms of its field, so that a reader finds what they search for. Each entry is a word
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
  // German is another language; packages have their own names.
  .filter(name => !/(?:^|[/.])de\.ts$|package-lock\.json$/.test(name))
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

describe('production code', () => {
  const isProduction = (name: string) =>
    /^(?:packages\/[^/]+\/src|bench|scripts)\/.*\.(?:tsx?|mjs|js)$/.test(name) &&
    !/\.test\.tsx?$|\/testing\//.test(name)
  const sources = [...textsOf]
    .filter(([name]) => isProduction(name))
    .map(([name, text]) => ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true))
    .map(source => ({ fileName: source.fileName, nodes: nodesIn(source) }))

  const functions = sources
    .filter(({ fileName }) => !/\/migrations\/\d{4}-/.test(fileName))
    .flatMap(({ nodes }) => nodes.filter(isFunction))

  it('has no function with more than 70 lines of its own, numbered migrations excepted', () => {
    const long = functions.filter(node => ownLines(node) > ownLinesMax)
    expect(long.map(node => `${placeOf(node)}: ${ownLines(node)} lines`)).toEqual([])
  })

  it('has no function with more than 175 lines in all', () => {
    const long = functions.filter(node => linesOf(node) > linesMax)
    expect(long.map(node => `${placeOf(node)}: ${linesOf(node)} lines`)).toEqual([])
  })

  it('names no variable, parameter or function found, known or given: a name says what the value is', () => {
    const vague = sources.flatMap(({ nodes }) => nodes.filter(isVaguelyNamed))
    expect(vague.map(placeOf)).toEqual([])
  })
})

/** Longer functions are two functions. */
const ownLinesMax = 70

/** A store or a list of routes is one function around short ones. A longer list is several, as in `flag-store.sql.ts`. */
const linesMax = 175

/** The node and all that are inside, in any order. */
function nodesIn(root: ts.Node): ts.Node[] {
  const nodes = [root]
  for (const node of nodes) ts.forEachChild(node, child => void nodes.push(child))
  return nodes
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = []
  ts.forEachChild(node, child => void children.push(child))
  return children
}

const isFunction = (node: ts.Node): boolean => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

/** Without those of the functions inside, of which the line that begins one belongs to both. */
function ownLines(node: ts.Node): number {
  const within = (parent: ts.Node): ts.Node[] =>
    childrenOf(parent).flatMap(child => (isFunction(child) ? [child] : within(child)))
  return within(node).reduce((lines, inner) => lines - (linesOf(inner) - 1), linesOf(node))
}

const lineAt = (node: ts.Node, position: number): number =>
  node.getSourceFile().getLineAndCharacterOfPosition(position).line + 1

const linesOf = (node: ts.Node): number => lineAt(node, node.end) - lineAt(node, node.getStart()) + 1

const placeOf = (node: ts.Node): string => `${node.getSourceFile().fileName}:${lineAt(node, node.getStart())}`

function isVaguelyNamed(node: ts.Node): boolean {
  const isDeclaration =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node)
  return isDeclaration && node.name !== undefined && /^(?:found|known|given)$/.test(node.name.getText())
}
