/**
 * Extracts a few properties from many JSON objects, one per line, without parsing the rest. Relies on the output of `JSON.stringify`: no
 * whitespace, and quotes inside strings are always escaped. So `"name":` after a brace or a comma is a key, and a line without a second
 * opening brace has only top-level keys. Any other line is parsed completely.
 */
export class PropertyLines {
  readonly #names: readonly string[]
  readonly #patterns: readonly string[]
  /** The next occurrence of each pattern, so that a rare property is not searched again on each line. */
  readonly #next: number[]
  #text = ''
  #start = 0
  #brace = -1
  #backslash = -1

  constructor(names: Iterable<string>) {
    this.#names = [...names]
    this.#patterns = this.#names.map(name => `${JSON.stringify(name)}:`)
    this.#next = this.#names.map(() => -1)
  }

  open(text: string): void {
    this.#text = text
    this.#start = 0
    this.#brace = -1
    this.#backslash = -1
    this.#next.fill(-1)
  }

  /** Writes the JSON text of each property of the next line into `values`, undefined for a missing one. */
  read(values: (string | undefined)[]): void {
    const text = this.#text
    const start = this.#start
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    this.#start = end + 1
    if (this.#brace <= start) this.#brace = indexOrEnd(text, '{', start + 1)
    if (this.#brace < end || !this.#readFlat(values, start, end)) this.#readParsed(values, start, end)
  }

  #readFlat(values: (string | undefined)[], start: number, end: number): boolean {
    const text = this.#text
    if (this.#backslash < start) this.#backslash = indexOrEnd(text, '\\', start)
    const hasEscapes = this.#backslash < end
    for (let field = 0; field < this.#patterns.length; field++) {
      const pattern = this.#patterns[field]!
      let position = this.#next[field]!
      if (position < start) {
        position = indexOrEnd(text, pattern, start)
        this.#next[field] = position
      }
      if (position >= end) {
        values[field] = undefined
        continue
      }
      const before = text.charCodeAt(position - 1)
      if (hasEscapes || (before !== COMMA && before !== OPENING_BRACE)) return false
      const value = scalarValue(text, position + pattern.length)
      if (value === undefined) return false
      values[field] = value
    }
    return true
  }

  #readParsed(values: (string | undefined)[], start: number, end: number): void {
    const properties = JSON.parse(this.#text.slice(start, end))
    for (let field = 0; field < this.#names.length; field++) {
      const name = this.#names[field]!
      values[field] = Object.hasOwn(properties, name) ? JSON.stringify(properties[name]) : undefined
    }
  }
}

const QUOTE = 34
const COMMA = 44
const OPENING_BRACKET = 91
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index === -1 ? Number.POSITIVE_INFINITY : index
}

/** A string without escapes, a number, or a literal. */
function scalarValue(text: string, start: number): string | undefined {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return text.slice(start, text.indexOf('"', start + 1) + 1)
  if (first === OPENING_BRACKET) return undefined
  let end = start + 1
  for (;;) {
    const code = text.charCodeAt(end)
    if (code === COMMA || code === CLOSING_BRACE) return text.slice(start, end)
    end += 1
  }
}
