import type { Syntax } from './snippet.ts'

export interface Token {
  readonly kind: 'comment' | 'string' | 'keyword' | 'number' | 'text'
  readonly text: string
}

const comments: Readonly<Record<Syntax, string>> = {
  'c-like': String.raw`\/\/.*`,
  python: '#.*',
  ruby: '#.*',
  php: String.raw`\/\/.*`,
  html: String.raw`<!--[\s\S]*?-->|\/\/.*`,
  shell: '#.*',
}
const strings = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`

/** One list for all languages: a word that is a keyword in one is rarely anything else in another. */
const words =
  'as|async|await|break|case|class|const|def|default|defer|else|end|export|extends|final|for|from|func|fun|function|' +
  'if|import|let|main|match|new|override|package|private|public|require|return|static|struct|switch|use|using|val|' +
  'var|void|when|while|curl|script|true|false|null|nil|None|undefined|echo|puts|print'

const patterns = new Map<Syntax, RegExp>()

/** Splits code into tokens whose texts add up to it. Good enough for the snippets; not a parser. */
export function highlight(code: string, syntax: Syntax): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of code.matchAll(patternOf(syntax))) {
    if (match.index > end) tokens.push({ kind: 'text', text: code.slice(end, match.index) })
    const [text, comment, string, keyword] = match
    const kind = comment ? 'comment' : string ? 'string' : keyword ? 'keyword' : 'number'
    tokens.push({ kind, text })
    end = match.index + text.length
  }
  if (end < code.length) tokens.push({ kind: 'text', text: code.slice(end) })
  return tokens
}

function patternOf(syntax: Syntax): RegExp {
  const cached = patterns.get(syntax)
  if (cached) return cached
  const made = new RegExp(`(${comments[syntax]})|(${strings})|(?<![\\w$.-])(${words})(?![\\w-])|\\b\\d+\\b`, 'g')
  patterns.set(syntax, made)
  return made
}
