export interface TextPosition {
  /** Both start at 1. */
  readonly line: number
  readonly column: number
}

/**
 * Where a text stops being JSON; undefined for valid JSON. Browsers report the position in different ways, and for
 * short texts not at all.
 */
export function jsonErrorPosition(text: string): TextPosition | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const before = text.slice(0, firstInvalidOffset(text))
    const lines = before.split('\n')
    return { line: lines.length, column: (lines.at(-1) as string).length + 1 }
  }
}

const whitespace = /[ \t\n\r]*/y
const scalar =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy

/** Walks the grammar until something unexpected follows. */
function firstInvalidOffset(text: string): number {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [match = ''] = pattern.exec(text) ?? []
    at += match.length
    return match
  }
  const next = (character: string): boolean => {
    take(whitespace)
    if (text[at] !== character) return false
    at++
    return true
  }
  const key = (): boolean => {
    take(whitespace)
    return text[at] === '"' && take(scalar) !== '' && next(':')
  }
  /** The members up to the closing bracket; false at the first error. */
  const members = (close: string, member: () => boolean): boolean => {
    if (next(close)) return true
    do if (!member()) return false
    while (next(','))
    return next(close)
  }
  const value = (): boolean => {
    if (next('{')) return members('}', () => key() && value())
    if (next('[')) return members(']', value)
    return take(scalar) !== ''
  }
  value()
  take(whitespace)
  return at
}
