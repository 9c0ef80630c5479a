/**
 * Finds regular expressions whose backtracking may cost more than linear time: a static analysis of ambiguity.
 *
 * The pattern becomes a Glushkov automaton: one state per character atom, plus states that stand for a search that begins
 * at any later index. Work is superlinear when a text can be pumped while the automaton divides its repetitions between
 * two loops (polynomial) or goes around one loop in two ways (exponential), and the match can still fail afterwards.
 */

/** What the pattern repeats in too many ways, or undefined when its time is linear. */
export function superlinearPart(source: string, flags: string): string | undefined {
  return ambiguityOf(automatonOf(parse(source, flags), flags))
}

/** A larger bound counts as no bound: the work it allows for each character is no small constant. */
const repeatsUnrolledMax = 32

type Node =
  | { readonly kind: 'atom'; readonly text: string; readonly chars: bigint }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'start' | 'condition' }
  | { readonly kind: 'lookahead'; readonly part: Node }

/** Every ASCII character, and others that classes such as `\s`, `\w` and `\p{L}` distinguish. */
const alphabet = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'\u00a0\u00e9\u0130\u0131\u017f\u212a\u2028\u3000\ufeff\u4e00\ud800\udc00',
  '\u{1f600}',
]
const everything = (1n << BigInt(alphabet.length)) - 1n

const known = new Map<string, bigint>()
/** The real engine decides what an atom accepts, so that classes and flags mean what they mean. */
function charsOf(atom: string, flags: string): bigint {
  const key = `${flags} ${atom}`
  const cached = known.get(key)
  if (cached !== undefined) return cached
  const pattern = new RegExp(`^(?:${atom})$`, flags.replace(/[gydm]/g, ''))
  let chars = 0n
  for (const [index, char] of alphabet.entries()) if (pattern.test(char)) chars |= 1n << BigInt(index)
  known.set(key, chars)
  return chars
}

/** A parser for the syntax of ECMAScript patterns. Back references have no bound on what they cost and are rejected. */
function parse(source: string, flags: string): Node {
  let at = 0
  const peek = (text: string) => source.startsWith(text, at)
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const sticky = new RegExp(pattern.source, 'uy')
    sticky.lastIndex = at
    const match = sticky.exec(source)
    if (match) at += match[0].length
    return match ?? undefined
  }

  function choice(): Node {
    const parts = [sequence()]
    while (peek('|')) {
      at += 1
      parts.push(sequence())
    }
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }
  function sequence(): Node {
    const parts: Node[] = []
    while (at < source.length && !peek('|') && !peek(')')) parts.push(quantified())
    return { kind: 'sequence', parts }
  }
  function quantified(): Node {
    const part = term()
    const simple = take(/([*+?])\??/)?.[1]
    if (simple) {
      return { kind: 'repeat', part, min: simple === '+' ? 1 : 0, max: simple === '?' ? 1 : Number.POSITIVE_INFINITY }
    }
    const counted = take(/\{(\d+)(,?)(\d*)\}\??/)
    if (!counted) return part
    const min = Number(counted[1])
    const max = counted[3] ? Number(counted[3]) : counted[2] ? Number.POSITIVE_INFINITY : min
    return { kind: 'repeat', part, min, max }
  }
  function group(node: (part: Node) => Node): Node {
    const part = choice()
    if (!peek(')')) throw new Error(`Unclosed group in ${source}`)
    at += 1
    return node(part)
  }
  function term(): Node {
    if (take(/\^/)) return { kind: 'start' }
    if (take(/\$|\\[bB]/)) return { kind: 'condition' }
    if (take(/\(\?[=!]/)) return group(part => ({ kind: 'lookahead', part }))
    // Runs backwards from each index, at a cost that a bounded body limits.
    if (take(/\(\?<[=!]/)) return group(part => lookbehind(part, source))
    if (take(/\((\?:|\?<[^>]*>)?/)) return group(part => part)
    if (take(/\\(k<|[1-9])/)) throw new Error(`Back reference in ${source}`)
    const atom =
      take(/\[(\\[\s\S]|[^\]\\])*\]/) ??
      take(/\\(u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|[\s\S])/) ??
      take(/[\s\S]/)!
    return { kind: 'atom', text: atom[0], chars: charsOf(atom[0], flags) }
  }
  const whole = choice()
  if (at < source.length) throw new Error(`Unexpected ${source.slice(at)} in ${source}`)
  return whole
}

function lookbehind(part: Node, source: string): Node {
  if (isUnbounded(part)) throw new Error(`Unbounded lookbehind in ${source}`)
  return { kind: 'condition' }
}

function isUnbounded(node: Node): boolean {
  if (node.kind === 'repeat') return node.max > repeatsUnrolledMax || isUnbounded(node.part)
  if (node.kind === 'sequence' || node.kind === 'choice') return node.parts.some(isUnbounded)
  return node.kind === 'lookahead' && isUnbounded(node.part)
}

interface Automaton {
  readonly chars: readonly bigint[]
  readonly texts: readonly string[]
  /** By state, the next states and in how many ways each is reached. */
  readonly next: readonly ReadonlyMap<number, number>[]
  /** The first state that stands for a search instead of an atom. */
  readonly searchFrom: number
  /** The states after which the pattern has matched, whatever follows. */
  readonly accepting: ReadonlySet<number>
}

/** How a part of the pattern is entered and left. */
interface Part {
  readonly first: readonly Entry[]
  readonly last: readonly Exit[]
  /** How the part matches the empty string, if it does. */
  readonly empty: Empty | undefined
}
interface Empty {
  readonly isConditional: boolean
  readonly isAtStart: boolean
}
interface Entry {
  readonly state: number
  readonly isAtStart: boolean
}
interface Exit {
  readonly state: number
  readonly isConditional: boolean
}

const plainEmpty: Empty = { isConditional: false, isAtStart: false }

function automatonOf(pattern: Node, flags: string): Automaton {
  const chars: bigint[] = []
  const texts: string[] = []
  const next: Map<number, number>[] = []
  const newState = (accepted: bigint, text: string): number => {
    chars.push(accepted)
    texts.push(text)
    return next.push(new Map()) - 1
  }
  const connect = (from: number, to: number) => next[from]!.set(to, (next[from]!.get(to) ?? 0) + 1)
  const join = (before: Part, after: Part) => {
    for (const { state } of before.last)
      for (const entry of after.first) if (!entry.isAtStart) connect(state, entry.state)
  }
  const sequenceOf = (before: Part, after: Part): Part => {
    join(before, after)
    const { empty } = before
    const through = empty
      ? after.first.map(({ state, isAtStart }) => ({ state, isAtStart: isAtStart || empty.isAtStart }))
      : []
    const left = after.empty
      ? before.last.map(({ state, isConditional }) => ({
          state,
          isConditional: isConditional || after.empty!.isConditional || after.empty!.isAtStart,
        }))
      : []
    return {
      first: [...before.first, ...through],
      last: [...after.last, ...left],
      empty:
        empty && after.empty
          ? {
              isConditional: empty.isConditional || after.empty.isConditional,
              isAtStart: empty.isAtStart || after.empty.isAtStart,
            }
          : undefined,
    }
  }
  const nothing: Part = { first: [], last: [], empty: plainEmpty }

  function build(node: Node): Part {
    switch (node.kind) {
      case 'atom': {
        const state = newState(node.chars, node.text)
        return { first: [{ state, isAtStart: false }], last: [{ state, isConditional: false }], empty: undefined }
      }
      case 'start':
        return { first: [], last: [], empty: { isConditional: false, isAtStart: true } }
      case 'condition':
        return { first: [], last: [], empty: { isConditional: true, isAtStart: false } }
      case 'lookahead': {
        // Entered like a part of the pattern, and never left: what follows begins again at the same index.
        const { first } = build(node.part)
        return { first, last: [], empty: { isConditional: true, isAtStart: false } }
      }
      case 'sequence':
        return node.parts.reduce<Part>((before, part) => sequenceOf(before, build(part)), nothing)
      case 'choice': {
        const parts = node.parts.map(build)
        const empties = parts.flatMap(({ empty }) => empty ?? [])
        return {
          first: parts.flatMap(({ first }) => first),
          last: parts.flatMap(({ last }) => last),
          empty: empties.find(({ isConditional, isAtStart }) => !isConditional && !isAtStart) ?? empties[0],
        }
      }
      case 'repeat':
        return repeat(node)
    }
  }

  function repeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>): Part {
    const isLoop = max > repeatsUnrolledMax
    // The loop stands for any number of rounds, so a long minimum needs no copies.
    const copies = isLoop ? 1 : max
    let whole = nothing
    for (let round = 1; round <= copies; round += 1) {
      const built = build(part)
      if (isLoop) join(built, built)
      const isOptional = round > min || (isLoop && min === 0)
      whole = sequenceOf(whole, isOptional ? { ...built, empty: plainEmpty } : built)
    }
    return whole
  }

  const whole = build(pattern)
  const searchFrom = next.length
  if (!flags.includes('y')) connectSearch(whole, flags.includes('m'))
  return {
    chars,
    texts,
    next,
    searchFrom,
    accepting: new Set(whole.last.flatMap(exit => (exit.isConditional ? [] : exit.state))),
  }

  /** A search tries every index: it skips any text before the match, or whole lines where `^` means their start. */
  function connectSearch({ first }: Part, hasLines: boolean): void {
    const skip = newState(everything, 'any text before the match')
    connect(skip, skip)
    for (const { state, isAtStart } of first) if (!isAtStart) connect(skip, state)
    if (!hasLines) return
    const line = newState(charsOf('\\n', ''), 'any lines before the match')
    connect(line, line)
    connect(line, skip)
    connect(skip, line)
    for (const { state, isAtStart } of first) if (isAtStart) connect(line, state)
  }
}

function ambiguityOf(automaton: Automaton): string | undefined {
  const { next, chars, texts, accepting, searchFrom } = automaton
  // One search has one start at a time, so its states divide no text among themselves.
  const isSearch = (state: number) => state >= searchFrom
  const reach = next.map((_, state) => reachable(next, state))
  const isInLoop = (state: number) => reach[state]!.has(state)
  const mayFail = (state: number) => !accepting.has(state)
  const loops = next.map((_, state) => state).filter(isInLoop)
  for (const p of loops) {
    for (const q of loops) {
      if (!mayFail(q)) continue
      if (p === q && !isSearch(p) && isExponential(automaton, p, reach)) return `${texts[p]} in two ways`
      if (
        p !== q &&
        !isSearch(q) &&
        reach[p]!.has(q) &&
        (chars[p]! & chars[q]!) !== 0n &&
        isPolynomial(automaton, p, q, reach)
      ) {
        return `${texts[p]} and ${texts[q]}`
      }
    }
  }
  return undefined
}

function reachable(next: Automaton['next'], from: number): Set<number> {
  const seen = new Set<number>()
  const stack = [...next[from]!.keys()]
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (seen.has(state)) continue
    seen.add(state)
    stack.push(...next[state]!.keys())
  }
  return seen
}

/** Two different ways from `p` to itself with the same text. */
function isExponential({ next, chars }: Automaton, p: number, reach: readonly ReadonlySet<number>[]): boolean {
  const seen = new Set<string>()
  const stack: [a: number, b: number, differ: boolean][] = [[p, p, false]]
  for (let top = stack.pop(); top; top = stack.pop()) {
    const [a, b, differ] = top
    for (const [x, ways] of next[a]!) {
      if (!reach[x]!.has(p)) continue
      for (const y of next[b]!.keys()) {
        if (!reach[y]!.has(p) || (chars[x]! & chars[y]!) === 0n) continue
        const isDifferent = differ || x !== y || ways > 1
        if (x === p && y === p && isDifferent) return true
        const key = `${x} ${y} ${isDifferent}`
        if (seen.has(key)) continue
        seen.add(key)
        stack.push([x, y, isDifferent])
      }
    }
  }
  return false
}

/** One text that leads from `p` to `p`, from `p` to `q` and from `q` to `q`: its repetitions divide at any place. */
function isPolynomial(
  { next, chars }: Automaton,
  p: number,
  q: number,
  reach: readonly ReadonlySet<number>[],
): boolean {
  const seen = new Set<string>()
  const stack: [a: number, b: number, c: number][] = [[p, p, q]]
  for (let top = stack.pop(); top; top = stack.pop()) {
    for (const x of next[top[0]]!.keys()) {
      if (!reach[x]!.has(p)) continue
      for (const y of next[top[1]]!.keys()) {
        const both = chars[x]! & chars[y]!
        if (both === 0n || (y !== q && !reach[y]!.has(q))) continue
        for (const z of next[top[2]]!.keys()) {
          if (!reach[z]!.has(q) || (both & chars[z]!) === 0n) continue
          if (x === p && y === q && z === q) return true
          const key = `${x} ${y} ${z}`
          if (seen.has(key)) continue
          seen.add(key)
          stack.push([x, y, z])
        }
      }
    }
  }
  return false
}
