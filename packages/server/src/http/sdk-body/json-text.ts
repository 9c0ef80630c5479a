import { Problem } from '../../problem.ts'

/**
 * What a text of JSON may consist of. A few bytes of text can become a hundred bytes of objects, and seconds of collecting them, so a large text
 * is weighed before it is parsed: what honest clients send stays far below these.
 */
export const nestingMax = 100
export const containersMax = 400_000
export const valuesMax = 2_000_000
export const keysPerObjectMax = 100_000

/** Shorter texts need no check. */
const weighedCharactersMin = 64 * 1024

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/** Refuses a text that would cost more than its length, whether or not it is JSON. */
export function refuseHeavyJson(text: string): void {
  if (text.length < weighedCharactersMin) return
  const keys: number[] = [0]
  let [depth, containers, values] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at) - 1
    else if (code === comma) values += 1
    else if (code === colon) keys[depth] = (keys[depth] ?? 0) + 1
    else if (opening.has(code)) {
      containers += 1
      keys[++depth] = 0
    } else if (closing.has(code)) depth = Math.max(0, depth - 1)
    else continue
    if (depth > nestingMax) throw tooDeep()
    if (containers > containersMax) throw tooHeavy(`${containersMax} objects and lists`)
    if (values > valuesMax) throw tooHeavy(`${valuesMax} values`)
    if (keys[depth]! > keysPerObjectMax) throw tooHeavy(`${keysPerObjectMax} fields in one object`)
  }
}

/** For texts of other machines, which need not be honest. */
export function parseWeighedJson(text: string): unknown {
  refuseHeavyJson(text)
  return JSON.parse(text)
}

export const tooDeep = (): Problem => new Problem('unparsable', `The body is nested deeper than ${nestingMax} levels.`)

const tooHeavy = (what: string): Problem =>
  new Problem('unparsable', `The body contains more than ${what}; send it in smaller parts.`)

/** Calls back with each stretch of a text of JSON that lies outside strings, and with each string, in turn. */
export function eachStretch(text: string, outside: (from: number, to: number) => void, inside?: typeof outside): void {
  for (let from = 0; from < text.length; ) {
    const open = text.indexOf('"', from)
    const to = open === -1 ? text.length : open
    if (to > from) outside(from, to)
    if (open === -1) return
    from = endOfString(text, open)
    inside?.(open, from)
  }
}

/** A quote ends a string unless an odd number of backslashes stands before it. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at
    while (text[first - 1] === '\\') first -= 1
    if ((at - first) % 2 === 0) return at + 1
  }
  return text.length
}

export const isTooDeep = (value: unknown): boolean => goesBelow(value, nestingMax)

/** Goes no deeper than it has to, and makes nothing on the way: it looks at every body. */
function goesBelow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels < 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (goesBelow(item, levels - 1)) return true
    return false
  }
  for (const key in value) if (goesBelow((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}
