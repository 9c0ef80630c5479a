import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { allRoutes } from '@halyard/contract'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'
import { superlinearPart } from './superlinear-pattern.ts'

/** No input costs more than linear time: every pattern of the packages that read input is checked for ambiguity. */

const packages = resolve(import.meta.dirname, '../../packages')
const readingInput = ['engine', 'contract', 'migrate', 'server', 'web']

/** Patterns that are computed from values, and why no input makes them slow. */
const computedPatterns: Readonly<Record<string, string>> = {
  'engine/src/compile/match/portable-regex.ts': 'only compiled, to see whether it is valid',
  'migrate/src/importers/javascript-pattern.ts': 'only compiled, to see whether it is valid',
  'migrate/src/importers/growthbook/conditions.ts': 'only patterns with few choices run, on four characters',
  'server/src/http/routes/allowed-methods.ts': 'made of the route table, which is checked below',
  'web/src/flags/code/highlight.ts': 'runs on snippets that the dashboard writes',
}

interface Pattern {
  readonly file: string
  readonly source: string
  readonly flags: string
}

interface AstNode {
  readonly type: string
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string'

function* nodesIn(value: unknown): Generator<AstNode> {
  if (isNode(value)) yield value
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return
  for (const child of Object.values(value)) yield* nodesIn(child)
}

/** The text of an expression of constants of the same file. */
function textOf(node: unknown, constants: ReadonlyMap<string, unknown>): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'Identifier') return textOf(constants.get(String(node.name)), constants)
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left, constants), textOf(node.right, constants)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  if (node.type !== 'TemplateLiteral') return undefined
  const quasis = node.quasis as { value: { cooked: string } }[]
  const texts = (node.expressions as unknown[]).map(each => textOf(each, constants))
  if (texts.includes(undefined)) return undefined
  return quasis.map(({ value }, index) => value.cooked + (texts[index] ?? '')).join('')
}

function patternsOf(file: string): { patterns: Pattern[]; isComputed: boolean } {
  const { program, errors } = parseSync(file, readFileSync(join(packages, file), 'utf8'))
  expect(errors, file).toEqual([])
  const nodes = [...nodesIn(program)]
  const constants = new Map(
    nodes.flatMap(node =>
      node.type === 'VariableDeclarator' ? [[(node.id as AstNode).name as string, node.init]] : [],
    ),
  )
  const patterns: Pattern[] = []
  let isComputed = false
  for (const node of nodes) {
    const regex = node.regex as { pattern: string; flags: string } | undefined
    if (node.type === 'Literal' && regex) patterns.push({ file, source: regex.pattern, flags: regex.flags })
    const isConstructed =
      (node.type === 'NewExpression' || node.type === 'CallExpression') && (node.callee as AstNode).name === 'RegExp'
    if (!isConstructed) continue
    const [first, second] = node.arguments as unknown[]
    const source = textOf(first, constants)
    const flags = second === undefined ? '' : textOf(second, constants)
    if (source === undefined || flags === undefined) isComputed = true
    else patterns.push({ file, source, flags })
  }
  return { patterns, isComputed }
}

const files = readingInput
  .flatMap(name =>
    readdirSync(join(packages, name, 'src'), { recursive: true }).map(path => join(name, 'src', String(path))),
  )
  .filter(path => /\.tsx?$/.test(path) && !/\.test\.tsx?$|\/testing\//.test(path))

describe('patterns', () => {
  it('run in linear time, whatever the input', () => {
    const read = files.map(file => ({ file, ...patternsOf(file) }))
    const patterns = read.flatMap(each => each.patterns)
    expect(patterns.length).toBeGreaterThan(250)
    const slow = patterns.flatMap(({ file, source, flags }) => {
      const part = superlinearPart(source, flags)
      return part === undefined ? [] : `${file}: /${source}/${flags} repeats ${part}`
    })
    expect(slow).toEqual([])
    expect(read.filter(({ isComputed }) => isComputed).map(({ file }) => file)).toEqual(
      Object.keys(computedPatterns).toSorted((a, b) => files.indexOf(a) - files.indexOf(b)),
    )
  })

  it('of schemas and paths run in linear time too', () => {
    const ofSchemas = [...schemaPatterns(allRoutes)]
    expect(ofSchemas.length).toBeGreaterThan(5)
    const ofPaths = allRoutes.map(({ path }) => `^${path.replace(/:\w+/g, '[^/]+')}/?$`)
    expect([...ofSchemas, ...ofPaths].filter(source => superlinearPart(source, '') !== undefined)).toEqual([])
  })
})

function* schemaPatterns(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if (name === 'pattern' && typeof child === 'string') yield child
    yield* schemaPatterns(child)
  }
}

describe('the analysis', () => {
  it.each([
    ['[ \\t]*([\\x21-\\x7e]*)?[ \\t]*$', ''],
    ['^\\s*return\\s*=\\s*"?([\\w-]*)"?\\s*(;.*)?$', 'i'],
    ['^\\d+\\.?\\d*$', ''],
    ['\\s+$', ''],
    ['\\s*,\\s*', ''],
    ['^(a+)+$', ''],
    ['^(a|a)*$', ''],
    ['^(a|ab)(c|bcd)*.*x.*y$', ''],
    ['^(?:a*)*$', ''],
    ['^(?=.*a.*b)x', ''],
    ['^\\s+x', 'm'],
    ['^a{0,500}a{0,500}$', ''],
  ])('finds that /%s/%s is not linear', (source, flags) => {
    expect(superlinearPart(source, flags)).toBeDefined()
  })

  it.each([
    ['^\\d+(?:\\.\\d*)?$', ''],
    ['^\\s*bearer\\s+(\\S+)\\s*$', 'i'],
    ['[^a-z0-9]+', 'g'],
    ['\\d+', ''],
    ['\\s*,', 'y'],
    ['^[ \\t]*x', 'm'],
    ['^(?:[^"\\\\]|\\\\.)*$', ''],
    ['^', 'gm'],
    ['a{1,15}b', ''],
    ['<link [^<>]*>', 'g'],
    ['"[^"]*\\.css"', 'g'],
  ])('finds that /%s/%s is linear', (source, flags) => {
    expect(superlinearPart(source, flags)).toBeUndefined()
  })

  it('rejects what has no bound: references to groups, and unbounded lookbehinds', () => {
    expect(() => superlinearPart('(a)\\1', '')).toThrow('Back reference')
    expect(() => superlinearPart('(?<=a+)b', '')).toThrow('Unbounded lookbehind')
  })
})
