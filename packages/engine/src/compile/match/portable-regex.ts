/**
 * Which regular expressions PostHog SDKs evaluate locally. PostHog's server and JavaScript differ in regex syntax, so
 * the SDKs run the common subset and decline the rest. The engine runs more, but must know where they decline.
 */
export type Portability = 'shared' | 'declined' | 'invalid'

export function portabilityOf(pattern: string): Portability {
  const classes = sharedClasses(pattern)
  if (classes === undefined) return 'declined'
  if (!compiles(pattern)) return 'invalid'
  return classes.every(text => compiles(text, 'u')) ? 'shared' : 'declined'
}

const unsharedText = /[^\0-\x7f]|\r/

/** SDKs also decline inputs with non-ASCII characters or carriage returns. */
export function isSharedText(text: string): boolean {
  return !unsharedText.test(text)
}

function compiles(pattern: string, flags?: string): boolean {
  try {
    new RegExp(pattern, flags)
    return true
  } catch {
    return false
  }
}

const sharedEscape = /[dDsSwWbBfnrtv\x20-\x2f:;=?@\x5b-\x60\x7b-\x7e]/
const twoHexDigits = /^[\da-f]{2}/i
const repetition = /^\{(\d+)(?:,(\d*))?\}/
const repetitionMax = 0xffffffff
const classOperator = /^(&&|--|~~)/

/** The character classes of a pattern, or undefined when it leaves the common subset. */
function sharedClasses(pattern: string): string[] | undefined {
  const classes: string[] = []
  let previous = ''
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index)
    const character = rest[0]!
    if (character > '\x7f') return undefined
    if (character === '\\') {
      const length = escapeLength(rest, false)
      if (length === undefined) return undefined
      index += length - 1
      previous = 'atom'
    } else if (character === '[') {
      const text = classText(rest)
      if (text === undefined) return undefined
      // The compiler rejects a class that is never closed.
      if (text === '') return classes
      classes.push(text)
      index += text.length - 1
      previous = 'atom'
    } else {
      if (!isSharedToken(rest, previous)) return undefined
      if (rest.startsWith('(?:')) index += 2
      const closesEmpty = character === ')' && (previous === '(' || previous === 'empty group')
      previous = closesEmpty ? 'empty group' : character
    }
  }
  return classes
}

/** The length of an escape, or undefined when it is outside the common subset, as word boundaries are. */
function escapeLength(rest: string, inClass: boolean): number | undefined {
  const escaped = rest[1]
  if (escaped === undefined) return 1
  if (escaped === 'x') return twoHexDigits.test(rest.slice(2)) ? 4 : undefined
  if (!sharedEscape.test(escaped)) return undefined
  return !inClass && (escaped === 'b' || escaped === 'B') ? undefined : 2
}

/** The class that starts here, '' when it is not closed, or undefined when it is outside the common subset. */
function classText(rest: string): string | undefined {
  const contentStart = rest[1] === '^' ? 2 : 1
  for (let index = 1; index < rest.length; index++) {
    const character = rest[index]!
    if (character > '\x7f' || character === '[') return undefined
    if (character === '\\') {
      const length = escapeLength(rest.slice(index), true)
      if (length === undefined) return undefined
      index += length - 1
    } else if (character === ']') {
      return index === contentStart ? undefined : rest.slice(0, index + 1)
    } else if (classOperator.test(rest.slice(index, index + 2))) {
      return undefined
    }
  }
  return ''
}

function isSharedToken(rest: string, previous: string): boolean {
  const character = rest[0]!
  if (character === '(' && rest[1] === '?') return rest[2] === ':'
  if (character === '{' && !isSharedRepetition(rest, previous)) return false
  if (character !== '{' && '*+?}'.includes(character) && (rest[1] === '+' || rest[1] === '{')) return false
  return !('*+?{'.includes(character) && (previous === '^' || previous === '$' || previous === 'empty group'))
}

function isSharedRepetition(rest: string, previous: string): boolean {
  const counts = repetition.exec(rest)
  if (counts === null || previous === '' || previous === '|' || previous === '(') return false
  return counts.slice(1).every(count => !(Number(count) > repetitionMax))
}
