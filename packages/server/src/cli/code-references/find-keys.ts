import { codeExcerptCharactersMax } from '@halyard/contract'

export interface FoundKey {
  readonly key: string
  /** From 1. */
  readonly line: number
  /** The line, shortened around the key. */
  readonly excerpt: string
}

export interface KeyIndex {
  /** Keys that are one run of letters, digits, `_` and `-`. */
  readonly words: ReadonlySet<string>
  /** All others, such as keys with spaces. */
  readonly others: readonly string[]
}

const wholeWord = /^[A-Za-z0-9_-]+$/
const words = /[A-Za-z0-9_-]+/g
const quotes = '\'"`'

export const indexKeys = (keys: Iterable<string>): KeyIndex => {
  const all = [...new Set(keys)]
  return { words: new Set(all.filter(key => wholeWord.test(key))), others: all.filter(key => !wholeWord.test(key)) }
}

/**
 * The lines that name a flag, each key once per line. A key counts in quotes; one with a `-`, `_` or digit also as a word of its own, since it
 * is hardly an ordinary word of the code.
 */
export function findKeys(text: string, { words: wordKeys, others }: KeyIndex): readonly FoundKey[] {
  const quoted = others.filter(key => text.includes(key))
  const occurrences: FoundKey[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const onLine = new Map<string, number>()
    for (const { 0: word, index: at } of line.matchAll(words)) {
      if (wordKeys.has(word) && (/[-_0-9]/.test(word) || isQuoted(line, at, word)))
        onLine.set(word, onLine.get(word) ?? at)
    }
    for (const key of quoted) {
      const at = positionInQuotes(line, key)
      if (at >= 0) onLine.set(key, at)
    }
    for (const [key, at] of onLine) occurrences.push({ key, line: index + 1, excerpt: excerptOf(line, at, key.length) })
  }
  return occurrences
}

function isQuoted(line: string, at: number, key: string): boolean {
  const before = line[at - 1]
  return before !== undefined && quotes.includes(before) && line[at + key.length] === before
}

function positionInQuotes(line: string, key: string): number {
  for (let at = line.indexOf(key); at >= 0; at = line.indexOf(key, at + 1)) {
    if (isQuoted(line, at, key)) return at
  }
  return -1
}

/** In a long line the key stays visible. */
function excerptOf(line: string, at: number, length: number): string {
  const free = Math.max(0, codeExcerptCharactersMax - length)
  const start = line.trimEnd().length <= codeExcerptCharactersMax ? 0 : Math.max(0, at - Math.floor(free / 2))
  // A cut must not leave half of a surrogate pair.
  return line
    .slice(start, start + codeExcerptCharactersMax)
    .toWellFormed()
    .trim()
}
