import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

/**
 * Renders the chart with the subset of Go templates that it uses. Stricter than Helm: an unknown function, an unknown
 * value or a template that does not exist is an error.
 */

export type Values = Record<string, unknown>

type Expression =
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'path'; readonly base: Expression | undefined; readonly names: readonly string[] }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Expression[] }

type Node =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly value: Expression }
  | { readonly type: 'assign'; readonly name: string; readonly value: Expression }
  | { readonly type: 'define'; readonly name: string; readonly body: readonly Node[] }
  | { readonly type: 'if'; readonly condition: Expression; readonly body: Node[]; readonly otherwise: Node[] }
  | { readonly type: 'with'; readonly value: Expression; readonly body: Node[]; readonly otherwise: Node[] }
  | {
      readonly type: 'range'
      readonly variables: readonly string[]
      readonly value: Expression
      readonly body: Node[]
      readonly otherwise: Node[]
    }

interface Piece {
  readonly isAction: boolean
  readonly text: string
}

interface Scope {
  readonly dot: unknown
  readonly variables: Record<string, unknown>
}

/** What `helm template <release> <chart> --values …` prints, by template file. */
export function renderChart(folder: string, overrides: Values = {}, release = 'flags'): Map<string, string> {
  const chart = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8')) as Values
  const root = {
    Values: chartValues(folder, overrides),
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: 'flags', Service: 'Helm' },
  }
  const files = readdirSync(join(folder, 'templates')).sort()
  const parsed = files.map(
    file => [file, parseTemplate(readFileSync(join(folder, 'templates', file), 'utf8'))] as const,
  )
  const defined = new Map<string, readonly Node[]>()
  for (const [, nodes] of parsed) {
    for (const node of nodes) if (node.type === 'define') defined.set(node.name, node.body)
  }
  const render = renderer(defined)
  return new Map(
    parsed
      .filter(([file]) => !file.startsWith('_'))
      .map(([file, nodes]) => [file, render(nodes, { dot: root, variables: { $: root } })]),
  )
}

export function chartValues(folder: string, overrides: Values): Values {
  return merge(parse(readFileSync(join(folder, 'values.yaml'), 'utf8')), overrides)
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

function merge(base: Values, over: Values): Values {
  const entries = Object.entries(over).map(([key, value]) => {
    const below = base[key]
    return [key, isMap(below) && isMap(value) ? merge(below, value) : value]
  })
  return { ...base, ...Object.fromEntries(entries) }
}

function renderer(defined: ReadonlyMap<string, readonly Node[]>) {
  function render(nodes: readonly Node[], outer: Scope): string {
    const scope: Scope = { dot: outer.dot, variables: Object.create(outer.variables) }
    return nodes.map(node => renderNode(node, scope)).join('')
  }

  function renderNode(node: Node, scope: Scope): string {
    switch (node.type) {
      case 'text':
        return node.text
      case 'define':
        return ''
      case 'output':
        return print(evaluate(node.value, scope))
      case 'assign':
        scope.variables[node.name] = evaluate(node.value, scope)
        return ''
      case 'if':
        return render(isTrue(evaluate(node.condition, scope)) ? node.body : node.otherwise, scope)
      case 'with': {
        const value = evaluate(node.value, scope)
        return isTrue(value) ? render(node.body, { ...scope, dot: value }) : render(node.otherwise, scope)
      }
      case 'range': {
        const value = evaluate(node.value, scope)
        const entries = Array.isArray(value) ? [...value.entries()] : sortedEntries(value)
        if (entries.length === 0) return render(node.otherwise, scope)
        return entries
          .map(([key, item]) => {
            const names = node.variables
            const bound =
              names.length === 2
                ? { [names[0]!]: key, [names[1]!]: item }
                : names.length === 1
                  ? { [names[0]!]: item }
                  : {}
            return render(node.body, { dot: item, variables: Object.assign(Object.create(scope.variables), bound) })
          })
          .join('')
      }
    }
  }

  function evaluate(expression: Expression, scope: Scope): unknown {
    switch (expression.type) {
      case 'literal':
        return expression.value
      case 'variable':
        if (!(expression.name in scope.variables)) throw new Error(`The variable ${expression.name} is not defined.`)
        return scope.variables[expression.name]
      case 'path': {
        let value = expression.base ? evaluate(expression.base, scope) : scope.dot
        for (const name of expression.names) {
          if (!isMap(value) || !(name in value)) throw new Error(`.${expression.names.join('.')} has no ${name}.`)
          value = value[name]
        }
        return value
      }
      case 'call': {
        const args = expression.args.map(arg => evaluate(arg, scope))
        if (expression.name === 'include') {
          const body = defined.get(String(args[0]))
          if (!body) throw new Error(`The template ${args[0]} is not defined.`)
          return render(body, { dot: args[1], variables: { $: args[1] } })
        }
        const run = functions[expression.name]
        if (!run) throw new Error(`The function ${expression.name} is not supported.`)
        return run(...(args as never[]))
      }
    }
  }

  return render
}

const indent = (columns: unknown, text: unknown): string => String(text).replace(/^/gm, ' '.repeat(Number(columns)))

const functions: Record<string, (...args: never[]) => unknown> = {
  and: (...args: unknown[]) => args.find(arg => !isTrue(arg)) ?? args.at(-1),
  contains: (part: string, text: string) => text.includes(part),
  default: (fallback: unknown, value: unknown) => (isTrue(value) ? value : fallback),
  eq: (first: unknown, second: unknown) => first === second,
  fail: (message: string) => {
    throw new Error(message)
  },
  hasKey: (map: Values, key: string) => key in map,
  nindent: (columns: number, text: string) => `\n${indent(columns, text)}`,
  not: (value: unknown) => !isTrue(value),
  or: (...args: unknown[]) => args.find(isTrue) ?? args.at(-1),
  printf: (format: string, ...args: unknown[]) => {
    let index = 0
    return format.replace(/%[svd]/g, () => print(args[index++]))
  },
  quote: (value: unknown) => JSON.stringify(print(value)),
  replace: (from: string, to: string, text: string) => text.replaceAll(from, to),
  sha256sum: (text: string) => createHash('sha256').update(text).digest('hex'),
  toYaml: (value: unknown) => stringify(value, { lineWidth: 0, sortMapEntries: true }).trimEnd(),
  trimSuffix: (suffix: string, text: string) => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text),
  trunc: (length: number, text: string) => text.slice(0, length),
}

function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isMap(value) ? Object.keys(value).length > 0 : Boolean(value)
}

function sortedEntries(value: unknown): [string, unknown][] {
  if (!isMap(value)) throw new Error('range needs a list or a map.')
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Go prints a large floating-point number, which is what Helm reads from YAML, with an exponent. */
function print(value: unknown): string {
  if (value === null || value === undefined) throw new Error('A template prints a value that is null.')
  if (isMap(value) || Array.isArray(value)) throw new Error('A template prints a map or a list without toYaml.')
  if (typeof value === 'number' && Math.abs(value) >= 1e6) return value.toExponential()
  return String(value)
}

function parseTemplate(source: string): Node[] {
  const pieces = split(source)
  let position = 0

  function parseUntil(...ends: string[]): { nodes: Node[]; end: string } {
    const nodes: Node[] = []
    while (position < pieces.length) {
      const piece = pieces[position++]!
      if (!piece.isAction) {
        if (piece.text !== '') nodes.push({ type: 'text', text: piece.text })
        continue
      }
      const word = /^\S+/.exec(piece.text)?.[0] ?? ''
      if (ends.includes(word)) return { nodes, end: piece.text }
      nodes.push(parseAction(piece.text, word))
    }
    if (ends.length > 0) throw new Error(`{{ ${ends.at(-1)} }} is missing.`)
    return { nodes, end: '' }
  }

  function parseAction(text: string, word: string): Node {
    const rest = text.slice(word.length).trim()
    if (word === 'define') return { type: 'define', name: JSON.parse(rest), body: parseUntil('end').nodes }
    if (word === 'if') return parseIf(rest)
    if (word === 'with') return { type: 'with', value: parsePipeline(rest), ...parseBlock() }
    if (word === 'range') {
      const [, names, value] = /^(?:((?:\$\w+,?\s*)+):=)?\s*([\s\S]+)$/.exec(rest)!
      const variables = [...(names ?? '').matchAll(/\$\w+/g)].map(([name]) => name)
      return { type: 'range', variables, value: parsePipeline(value!), ...parseBlock() }
    }
    const [, name, value] = /^(\$\w+)\s*:?=\s*([\s\S]+)$/.exec(text) ?? []
    if (name && value) return { type: 'assign', name, value: parsePipeline(value) }
    return { type: 'output', value: parsePipeline(text) }
  }

  function parseIf(condition: string): Node {
    const { nodes: body, end } = parseUntil('else', 'end')
    const [, next] = /^else\s+if\s+([\s\S]+)$/.exec(end) ?? []
    if (next) return { type: 'if', condition: parsePipeline(condition), body, otherwise: [parseIf(next)] }
    const otherwise = end === 'else' ? parseUntil('end').nodes : []
    return { type: 'if', condition: parsePipeline(condition), body, otherwise }
  }

  function parseBlock(): { body: Node[]; otherwise: Node[] } {
    const { nodes: body, end } = parseUntil('else', 'end')
    return { body, otherwise: end === 'else' ? parseUntil('end').nodes : [] }
  }

  return parseUntil().nodes
}

/** Text and actions, with the whitespace removed that `{{-` and `-}}` remove; comments are dropped. */
function split(source: string): Piece[] {
  const pieces: Piece[] = []
  const action = /\{\{(-\s)?\s*(\/\*[\s\S]*?\*\/|(?:"(?:[^"\\]|\\.)*"|[^"}]|\}(?!\}))*?)\s*(-)?\}\}/g
  let end = 0
  let trimsNext = false
  const addText = (text: string, trimsEnd: boolean) => {
    const start = trimsNext ? text.trimStart() : text
    pieces.push({ isAction: false, text: trimsEnd ? start.trimEnd() : start })
  }
  for (const match of source.matchAll(action)) {
    addText(source.slice(end, match.index), match[1] !== undefined)
    if (!match[2]!.startsWith('/*')) pieces.push({ isAction: true, text: match[2]!.trim() })
    trimsNext = match[3] !== undefined
    end = match.index + match[0].length
  }
  addText(source.slice(end), false)
  return pieces
}

function parsePipeline(text: string): Expression {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|"]+/g) ?? []
  let position = 0

  function pipeline(): Expression {
    let result = command(undefined)
    while (tokens[position] === '|') {
      position++
      result = command(result)
    }
    return result
  }

  function command(piped: Expression | undefined): Expression {
    const operands: Expression[] = []
    const first = tokens[position]
    const isCall = first !== undefined && /^[a-zA-Z]\w*$/.test(first) && !/^(true|false)$/.test(first)
    if (isCall) position++
    while (position < tokens.length && tokens[position] !== '|' && tokens[position] !== ')') operands.push(operand())
    if (isCall) return { type: 'call', name: first, args: piped ? [...operands, piped] : operands }
    if (operands.length !== 1 || piped) throw new Error(`"${text}" is not understood.`)
    return operands[0]!
  }

  function operand(): Expression {
    const token = tokens[position++]!
    if (token === '(') {
      const inner = pipeline()
      if (tokens[position++] !== ')') throw new Error(`A parenthesis is missing in "${text}".`)
      return inner
    }
    if (token.startsWith('"')) return { type: 'literal', value: JSON.parse(token) }
    if (/^-?\d/.test(token)) return { type: 'literal', value: Number(token) }
    if (/^(true|false)$/.test(token)) return { type: 'literal', value: token === 'true' }
    const [, variable, path] = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(token) ?? []
    if (variable === undefined && path === undefined) throw new Error(`"${token}" is not understood in "${text}".`)
    const base: Expression | undefined = variable ? { type: 'variable', name: variable } : undefined
    return { type: 'path', base, names: path!.split('.').filter(name => name !== '') }
  }

  const result = pipeline()
  if (position < tokens.length) throw new Error(`"${text}" is not understood after ${position} words.`)
  return result
}
