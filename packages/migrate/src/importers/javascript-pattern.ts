import type { Verdict } from './verdict.ts'

/** A regular expression of JavaScript in the syntax of RE2. Refuses what RE2 does not have. */
export function convertPattern(pattern: unknown, path: string, verdict: Verdict): string {
  const tokens = typeof pattern === 'string' && isJavascriptPattern(pattern) ? tokensOf(pattern) : undefined
  if (tokens === undefined) {
    return verdict.refuse(
      'The regular expression needs what RE2 does not have, such as look-around; write it without.',
      path,
    )
  }
  const converted = tokens.map((token, at) => inCodePoints(tokens, token, at))
  if (converted.includes(undefined)) {
    verdict.differs('Characters such as emoji count twice in JavaScript; match them only with `*` or not at all.', path)
  }
  return tokens.map(({ text }, at) => converted[at] ?? text).join('')
}

/** JavaScript matches units of UTF-16, RE2 characters: they differ for characters of two units. */
interface Token {
  /** In the syntax of RE2. */
  readonly text: string
  /** `wide` matches one unit, perhaps half of a character; `narrow` one unit that is a character; `edge` is `^` or `$`. */
  readonly kind: 'wide' | 'narrow' | 'edge' | 'quantifier' | 'other'
}

/** Undefined when what the token matches differs, or may. */
function inCodePoints(tokens: readonly Token[], { kind, text }: Token, at: number): string | undefined {
  const next = tokens[at + 1]
  if (/[\ud800-\udfff]|\\x\{d[89a-f]/i.test(text)) return undefined
  if (kind !== 'wide' || next?.text.startsWith('*')) return text
  const isRepeated = next?.kind === 'quantifier'
  if (isRepeated && !next.text.startsWith('+')) return undefined
  const after = at + (isRepeated ? 2 : 1)
  const follower = tokens[after]
  const isOptional = tokens[after + 1]?.kind === 'quantifier' && !tokens[after + 1]!.text.startsWith('+')
  const isNarrow = (token: Token | undefined) => token?.kind === 'narrow' || token?.kind === 'edge'
  // A neighbor that may be missing or may match half of a character can take the other half.
  const isEnclosed = isNarrow(tokens[at - 1]) && isNarrow(follower) && !isOptional
  if (isRepeated) {
    const isOpen = (at === 0 || isNarrow(tokens[at - 1])) && (follower === undefined || isNarrow(follower))
    return isOpen && !isOptional ? text : undefined
  }
  return isEnclosed ? withoutPairs(text) : undefined
}

/** Undefined for a class of which only a part matches pairs. */
function withoutPairs(text: string): string | undefined {
  const pairs = '\\x{10000}-\\x{10ffff}'
  if (text.startsWith('[^')) return `${text.slice(0, -1)}${pairs}]`
  return text.startsWith('[') ? undefined : `[^${text.toLowerCase()}${pairs}]`
}

/** Undefined when RE2 does not have one of them. */
function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; ) {
    const token = tokenAt(pattern.slice(at))
    if (token === undefined) return undefined
    tokens.push(token)
    at += token.length
  }
  return tokens
}

function tokenAt(rest: string): (Token & { readonly length: number }) | undefined {
  const character = rest[0]!
  if (character === '\\') {
    const escaped = escapeOf(rest, false)
    const kind = /^\\[SDW]/.test(rest) ? 'wide' : /^\\[bB]/.test(rest) ? 'other' : 'narrow'
    return escaped && { ...escaped, kind }
  }
  if (character === '[') return classAt(rest)
  if (character === '.') return { text: '[^\\n\\r\\x{2028}\\x{2029}]', length: 1, kind: 'wide' }
  const [repetition] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(rest) ?? []
  if (repetition !== undefined) return { text: repetition, length: repetition.length, kind: 'quantifier' }
  if (rest.startsWith('(?') && !rest.startsWith('(?:')) return undefined
  if (rest.startsWith('(?:')) return { text: '(?:', length: 3, kind: 'other' }
  const kind = /[()|]/.test(character) ? 'other' : /[\^$]/.test(character) ? 'edge' : 'narrow'
  return { text: character, length: 1, kind }
}

function classAt(rest: string): (Token & { readonly length: number }) | undefined {
  if (rest.startsWith('[]') || rest.startsWith('[^]')) return undefined
  const isNegated = rest.startsWith('[^')
  let text = isNegated ? '[^' : '['
  let isWide = isNegated
  for (let at = text.length; at < rest.length; ) {
    const character = rest[at]!
    if (character === ']') return { text: `${text}]`, length: at + 1, kind: isWide ? 'wide' : 'narrow' }
    const escaped = character === '\\' ? escapeOf(rest.slice(at), true) : undefined
    if (character === '\\' && escaped === undefined) return undefined
    isWide ||= /^\\[DW]/.test(rest.slice(at))
    text += escaped?.text ?? (character === '[' ? '\\[' : character)
    at += escaped?.length ?? 1
  }
  return undefined
}

export function isJavascriptPattern(pattern: string): boolean {
  try {
    new RegExp(pattern)
    return true
  } catch {
    return false
  }
}

const space = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

function escapeOf(rest: string, isInClass: boolean): { readonly text: string; readonly length: number } | undefined {
  const next = rest[1]
  if (next === undefined) return undefined
  if (next === 's') return { text: isInClass ? space : `[${space}]`, length: 2 }
  if (next === 'S') return isInClass ? undefined : { text: `[^${space}]`, length: 2 }
  if (/[dDwW]/.test(next)) return { text: `\\${next}`, length: 2 }
  if (/[bB]/.test(next)) return isInClass ? undefined : { text: `\\${next}`, length: 2 }
  if (/[fnrtv]/.test(next)) return { text: `\\${next}`, length: 2 }
  const code = /^\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2}))/.exec(rest)
  if (code !== null) return { text: `\\x{${code[1] ?? code[2]}}`, length: code[0].length }
  return /[\da-zA-Z]/.test(next) || next.charCodeAt(0) > 0x7f ? undefined : { text: `\\${next}`, length: 2 }
}
