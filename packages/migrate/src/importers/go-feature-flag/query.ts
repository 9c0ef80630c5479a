import { all, any, type Expression, not, person } from '../expression.ts'
import type { Verdict } from '../verdict.ts'

/** The query language of GO Feature Flag, such as `email ew "@example.com" and age ge 18`. */
export function convertQuery(query: string, path: string, verdict: Verdict): Expression {
  const parser = new QueryParser(tokensOf(query), path, verdict)
  return parser.parse()
}

const token = /\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[()]|[^\s()[\]]+)/y

/** The rest of a query that cannot be read is one token, which no rule accepts. */
function tokensOf(query: string): string[] {
  const text = query.trim()
  const tokens: string[] = []
  token.lastIndex = 0
  for (let end = 0; end < text.length; end = token.lastIndex) {
    const match = token.exec(text)
    if (!match) return [...tokens, text.slice(end)]
    tokens.push(match[1]!)
  }
  return tokens
}

const operators: Readonly<Record<string, string>> = {
  '==': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
}

const numberOperators: Readonly<Record<string, string>> = {
  eq: 'number_eq',
  lt: 'number_lt',
  le: 'number_lte',
  gt: 'number_gt',
  ge: 'number_gte',
}

const textOperators: Readonly<Record<string, string>> = {
  eq: 'text_equals',
  co: 'text_contains',
  sw: 'text_starts_with',
  ew: 'text_ends_with',
}

class QueryParser {
  readonly #tokens: readonly string[]
  readonly #path: string
  readonly #verdict: Verdict
  #at = 0

  constructor(tokens: readonly string[], path: string, verdict: Verdict) {
    this.#tokens = tokens
    this.#path = path
    this.#verdict = verdict
  }

  parse(): Expression {
    const expression = this.#alternatives()
    return this.#at === this.#tokens.length ? expression : this.#refuse()
  }

  #refuse(): never {
    const token = this.#tokens[this.#at] ?? 'the end'
    return this.#verdict.refuse(
      `The query cannot be converted at ${token.slice(0, 40)}; write this part otherwise.`,
      this.#path,
    )
  }

  #takes(word: string): boolean {
    if (this.#tokens[this.#at]?.toLowerCase() !== word) return false
    this.#at++
    return true
  }

  #alternatives(): Expression {
    const parts = [this.#conjunction()]
    while (this.#takes('or')) parts.push(this.#conjunction())
    return any(parts)
  }

  #conjunction(): Expression {
    const parts = [this.#term()]
    while (this.#takes('and')) parts.push(this.#term())
    return all(parts)
  }

  #term(): Expression {
    if (!this.#takes('(')) return this.#comparison()
    const inner = this.#alternatives()
    return this.#takes(')') ? inner : this.#refuse()
  }

  #comparison(): Expression {
    const name = this.#tokens[this.#at]
    const operator = this.#tokens[this.#at + 1]?.toLowerCase()
    if (name === undefined || operator === undefined || !/^[A-Za-z_$][\w$-]*$/.test(name)) return this.#refuse()
    const key = name === 'key' || name === 'targetingKey' ? 'distinct_id' : name
    if (operator === 'pr') {
      this.#at += 2
      return person(key, 'is_set', 'is_set')
    }
    const literal = this.#tokens[this.#at + 2]
    const test = literal === undefined ? undefined : comparisonOf(key, operators[operator] ?? operator, literal)
    if (test === undefined) return this.#refuse()
    this.#at += 3
    return test
  }
}

/** Text comparisons ignore case, lists do not. A value of another type never matches. */
function comparisonOf(key: string, operator: string, literal: string): Expression | undefined {
  const value = literalOf(literal)
  if (typeof value === 'string') {
    const isText = person(key, 'type_is', 'string')
    if (operator === 'ne') return all([isText, not(person(key, 'text_equals', value, { ignore_case: true }))])
    const name = textOperators[operator]
    return name === undefined ? undefined : all([isText, person(key, name, value, { ignore_case: true })])
  }
  if (typeof value === 'number') {
    const isNumber = person(key, 'type_is', 'number')
    if (operator === 'ne') return all([isNumber, not(person(key, 'number_eq', value))])
    const name = numberOperators[operator]
    return name === undefined ? undefined : all([isNumber, person(key, name, value)])
  }
  if (typeof value === 'boolean') {
    if (operator === 'eq') return person(key, 'json_one_of', [value])
    return operator === 'ne' ? person(key, 'json_one_of', [!value]) : undefined
  }
  return Array.isArray(value) && operator === 'in' ? person(key, 'json_one_of', value) : undefined
}

function literalOf(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text) || text === 'true' || text === 'false' || /^["[]/.test(text)) {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }
  return undefined
}
