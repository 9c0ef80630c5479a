/** How well a query matches a text; higher is better. */
const exactScore = 1000
const prefixScore = 800
const wordScore = 600
const partScore = 400
const wordsScore = 300
const sequenceScore = 100

const isBoundary = (text: string, index: number): boolean => index === 0 || !/[\p{L}\p{N}]/u.test(text[index - 1] ?? '')

/**
 * Scores a case-insensitive match: the whole text, its beginning, the beginning of a word, a part, all words in any
 * order, or the letters of the query in order (`chk` finds `checkout`). Undefined when nothing matches.
 */
export function fuzzyScore(query: string, text: string): number | undefined {
  const wanted = query.trim().toLowerCase()
  const lower = text.toLowerCase()
  if (wanted === '') return 0
  if (lower === wanted) return exactScore
  const at = lower.indexOf(wanted)
  if (at === 0) return prefixScore - lengthPenalty(lower)
  if (at > 0) return (isBoundary(lower, at) ? wordScore : partScore) - lengthPenalty(lower)
  const words = wanted.split(/\s+/)
  if (words.length > 1 && words.every(word => lower.includes(word))) return wordsScore - lengthPenalty(lower)
  return sequence(wanted.replace(/\s+/g, ''), lower)
}

const lengthPenalty = (text: string): number => Math.min(99, text.length)

/** Letters at the beginning of words and directly after each other count more. */
function sequence(wanted: string, text: string): number | undefined {
  let score = 0
  let last = -1
  for (const letter of wanted) {
    const next = nextOf(text, letter, last + 1)
    if (next === -1) return undefined
    score += isBoundary(text, next) ? 8 : next === last + 1 ? 5 : -Math.min(5, next - last)
    last = next
  }
  return score < 0 ? undefined : Math.min(partScore - 1, sequenceScore + score) - lengthPenalty(text) / 2
}

/** Prefers the next letter that begins a word, unless the very next one matches. */
function nextOf(text: string, letter: string, from: number): number {
  const first = text.indexOf(letter, from)
  if (first === -1 || first === from) return first
  for (let at = first; at !== -1; at = text.indexOf(letter, at + 1)) if (isBoundary(text, at)) return at
  return first
}

/** The best matches first; equal ones keep their order. */
export function fuzzyFilter<T>(query: string, items: readonly T[], textOf: (item: T) => string, limit: number): T[] {
  return items
    .flatMap(item => {
      const score = fuzzyScore(query, textOf(item))
      return score === undefined ? [] : [{ item, score }]
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ item }) => item)
}
