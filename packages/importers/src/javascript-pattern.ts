/**
 * A regular expression of JavaScript in the syntax of RE2, with the same matches for text without surrogate pairs.
 * Undefined when it needs what RE2 does not have.
 */
export function javascriptPattern(pattern: string): string | undefined {
  if (!isJavascriptPattern(pattern)) return undefined
  let converted = ''
  let isInClass = false
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]!
    const rest = pattern.slice(at)
    if (character === '\\') {
      const escaped = escapeOf(rest, isInClass)
      if (escaped === undefined) return undefined
      converted += escaped.text
      at += escaped.length - 1
    } else if (isInClass) {
      isInClass = character !== ']'
      converted += character === '[' ? '\\[' : character
    } else if (character === '[') {
      if (rest.startsWith('[]') || rest.startsWith('[^]')) return undefined
      isInClass = true
      converted += character
    } else if (rest.startsWith('(?') && !rest.startsWith('(?:')) {
      return undefined
    } else {
      converted += character === '.' ? '[^\\n\\r\\x{2028}\\x{2029}]' : character
    }
  }
  return converted
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
