import { memoizeLast } from './memoize-last.ts'

/**
 * Versions as the client libraries read them: three numbers, missing ones are 0, pre-release and build parts are
 * ignored, blanks and a leading v are dropped. They decline leading zeros; we read them, with `certain` false.
 */
export interface Version {
  readonly numbers: readonly [number, number, number]
  readonly certain: boolean
}

export interface VersionRange {
  readonly lower: readonly [number, number, number]
  readonly upper: readonly [number, number, number]
  readonly certain: boolean
}

const digits = /^\d+$/
const withLeadingZero = /^0\d/

/** The same version is often asked about many times in a row, so the last answer is kept. */
export const parseVersion = memoizeLast((text: string) => readNumericVersion(text) ?? readVersion(text))

/** The usual form: up to three numbers with dots, and nothing else. Undefined for all other forms. */
function readNumericVersion(text: string): Version | undefined {
  const numbers: [number, number, number] = [0, 0, 0]
  let part = 0
  let digitCount = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 48 && code <= 57) {
      // A leading zero, or more digits than are surely exact, is left to the careful reader.
      if (digitCount === 15 || (digitCount === 1 && numbers[part] === 0)) return undefined
      numbers[part] = numbers[part]! * 10 + (code - 48)
      digitCount++
    } else {
      if (code !== 46 || digitCount === 0 || part === 2) return undefined
      part++
      digitCount = 0
    }
  }
  return digitCount === 0 ? undefined : { numbers, certain: true }
}

function readVersion(text: string): Version | undefined {
  const numbered = bare(text).split('-', 1)[0]!.split('+', 1)[0]!
  if (numbered === '' || numbered.startsWith('.')) return undefined
  const parts = numbered.split('.', 3)
  const numbers: [number, number, number] = [0, 0, 0]
  let certain = true
  for (const [index, part] of parts.entries()) {
    if (part === '') continue
    if (!digits.test(part)) return undefined
    if (withLeadingZero.test(part)) certain = false
    numbers[index] = Number.parseInt(part, 10)
  }
  return { numbers, certain }
}

export function compareVersions(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < 3; index++) {
    if (left[index]! < right[index]!) return -1
    if (left[index]! > right[index]!) return 1
  }
  return 0
}

/** `~1.2.3`: the same minor version, from there on. */
export function tildeRange(text: string): VersionRange | undefined {
  const version = parseVersion(text)
  if (version === undefined) return undefined
  const [major, minor] = version.numbers
  return { lower: version.numbers, upper: [major, minor + 1, 0], certain: version.certain }
}

/** `^1.2.3`: up to the next change of the leftmost part that is not zero. */
export function caretRange(text: string): VersionRange | undefined {
  const version = parseVersion(text)
  if (version === undefined) return undefined
  const [major, minor, patch] = version.numbers
  const upper: [number, number, number] =
    major > 0 ? [major + 1, 0, 0] : minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1]
  return { lower: version.numbers, upper, certain: version.certain }
}

/** `1.*`, `1.2.*`; also `*` and `1.*.*`, which the client libraries decline. */
export function wildcardRange(text: string): VersionRange | undefined {
  const once = bare(text).replace(/\.\*$/, '').replace(/\*$/, '')
  const prefix = bare(text).replace(/(\.?\*)+$/, '')
  if (prefix === '') return { lower: [0, 0, 0], upper: [Number.POSITIVE_INFINITY, 0, 0], certain: false }
  const [first, second] = prefix.split('.')
  if (!digits.test(first!) || (second !== undefined && !digits.test(second))) return undefined
  const certain = prefix === once && !withLeadingZero.test(first!) && !withLeadingZero.test(second ?? '')
  const major = Number.parseInt(first!, 10)
  if (second === undefined) return { lower: [major, 0, 0], upper: [major + 1, 0, 0], certain }
  const minor = Number.parseInt(second, 10)
  return { lower: [major, minor, 0], upper: [major, minor + 1, 0], certain }
}

function bare(text: string): string {
  return text.trim().replace(/^[vV]/, '')
}
