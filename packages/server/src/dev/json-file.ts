import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { ExplainedError } from '../problem.ts'

/** A file cannot be used; the message is one sentence with its place. */
export class JsonFileError extends ExplainedError {}

export interface JsonFile {
  readonly path: string
  readonly text: string
  readonly value: unknown
}

const bytesMax = 64 * 1024 * 1024

/** Undefined when there is no such file. Raises JsonFileError. */
export async function readJsonFile(path: string): Promise<JsonFile | undefined> {
  try {
    const { size } = await stat(path)
    if (size > bytesMax) throw new JsonFileError(`${basename(path)} is larger than 64 MiB.`)
    const text = await readFile(path, 'utf8')
    return { path, text, value: parseJson(path, text) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (error instanceof JsonFileError) throw error
    throw new JsonFileError(`${basename(path)} cannot be read: ${message}.`)
  }
}

export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const { at, expected } = findSyntaxError(text)
    throw new JsonFileError(`${placeOf(path, text, at)}: this is not JSON; expected ${expected}.`)
  }
}

/** `file:line:column`, as editors and terminals link it. */
export function placeOf(path: string, text: string, at: number): string {
  const lines = text.slice(0, at).split('\n')
  return `${basename(path)}:${lines.length}:${lines.at(-1)!.length + 1}`
}

/** Where a key of the outermost object is written; 0 when it is not found. */
export function positionOfKey(text: string, key: string): number {
  let position = 0
  new Scanner(text, (name, at, depth) => {
    if (depth === 1 && name === key) position = at
  }).scan()
  return position
}

interface SyntaxProblem {
  readonly at: number
  readonly expected: string
}

const findSyntaxError = (text: string): SyntaxProblem =>
  new Scanner(text, () => {}).scan() ?? { at: 0, expected: 'a value' }

const depthMax = 1000
const space = /[ \t\r\n]*/y
const string = /"(?:[^"\\\b\f\n\r\t\v]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y

/** Only for positions: `JSON.parse` does not report where it failed in every version of Node.js. */
class Scanner {
  readonly #text: string
  readonly #onKey: (name: string, at: number, depth: number) => void
  #at = 0

  constructor(text: string, onKey: (name: string, at: number, depth: number) => void) {
    this.#text = text
    this.#onKey = onKey
  }

  scan(): SyntaxProblem | undefined {
    const problem = this.#value(0) ?? this.#skipSpace()
    if (problem !== undefined || this.#at >= this.#text.length) return problem
    return { at: this.#at, expected: 'the end of the file' }
  }

  #value(depth: number): SyntaxProblem | undefined {
    this.#skipSpace()
    if (depth > depthMax) return { at: this.#at, expected: 'less nesting' }
    const first = this.#text[this.#at]
    if (first === '{') return this.#items('}', depth + 1)
    if (first === '[') return this.#items(']', depth + 1)
    return this.#take(first === '"' ? string : scalar) ? undefined : { at: this.#at, expected: 'a value' }
  }

  #items(end: '}' | ']', depth: number): SyntaxProblem | undefined {
    this.#at += 1
    this.#skipSpace()
    if (this.#takeText(end)) return undefined
    for (;;) {
      const problem = (end === '}' ? this.#key(depth) : undefined) ?? this.#value(depth)
      if (problem !== undefined) return problem
      this.#skipSpace()
      if (this.#takeText(end)) return undefined
      if (!this.#takeText(',')) return { at: this.#at, expected: `"," or "${end}"` }
    }
  }

  #key(depth: number): SyntaxProblem | undefined {
    this.#skipSpace()
    const at = this.#at
    if (!this.#take(string)) return { at, expected: 'a key in double quotes' }
    this.#onKey(JSON.parse(this.#text.slice(at, this.#at)), at, depth)
    this.#skipSpace()
    return this.#takeText(':') ? undefined : { at: this.#at, expected: '":"' }
  }

  #skipSpace(): undefined {
    this.#take(space)
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at += match[0].length
    return match !== null
  }

  #takeText(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at)
    if (isThere) this.#at += text.length
    return isThere
  }
}
