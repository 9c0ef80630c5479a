import { memoizeLast } from './memoize-last.ts'

/**
 * Versions as PostHog SDKs parse them: three numbers, missing ones are 0; pre-release, build metadata, whitespace and a
 * leading v are ignored. SDKs decline leading zeros; the engine accepts them with `certain` false.
 */
export interface Version {
  readonly numbers: readonly [number, number, number]
  /** What follows the numbers: pre-release and build metadata. */
  readonly suffix: string
  readonly certain: boolean
}

export interface VersionRange {
  readonly lower: Version
  readonly upper: readonly [number, number, number]
  readonly certain: boolean
}

const digits = /^\d+$/
const withLeadingZero = /^0\d/

export const parseVersion = memoizeLast((text: string) => readNumericVersion(text) ?? readVersion(text))

/** Fast path: up to three numbers separated by dots. Undefined for all other forms. */
function readNumericVersion(text: string): Version | undefined {
  const numbers: [number, number, number] = [0, 0, 0]
  let part = 0
  let digitCount = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 48 && code <= 57) {
      // Leading zeros, and numbers that may not be exact, take the slow path.
      if (digitCount === 15 || (digitCount === 1 && numbers[part] === 0)) return undefined
      numbers[part] = numbers[part]! * 10 + (code - 48)
      digitCount++
    } else {
      if (code !== 46 || digitCount === 0 || part === 2) return undefined
      part++
      digitCount = 0
    }
  }
  return digitCount === 0 ? undefined : { numbers, suffix: '', certain: true }
}

function readVersion(text: string): Version | undefined {
  const version = bare(text)
  const numbered = version.split('-', 1)[0]!.split('+', 1)[0]!
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
  return { numbers, suffix: version.slice(numbered.length), certain }
}

export function compareVersions(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < 3; index++) {
    if (left[index]! < right[index]!) return -1
    if (left[index]! > right[index]!) return 1
  }
  return 0
}

/** By semantic versioning: a pre-release comes before its release; build metadata decides last. */
export function compareSuffixes(left: string, right: string): number {
  const [leftRelease, leftBuild] = splitSuffix(left)
  const [rightRelease, rightBuild] = splitSuffix(right)
  if (leftRelease !== rightRelease) {
    if (leftRelease === '') return 1
    if (rightRelease === '') return -1
    return compareIdentifiers(leftRelease, rightRelease)
  }
  return compareIdentifiers(leftBuild, rightBuild)
}

function splitSuffix(suffix: string): readonly [preRelease: string, build: string] {
  const plus = suffix.indexOf('+')
  const preRelease = plus === -1 ? suffix : suffix.slice(0, plus)
  return [preRelease.slice(1), plus === -1 ? '' : suffix.slice(plus + 1)]
}

/** Numbers numerically and before words; a longer list after its prefix. */
function compareIdentifiers(left: string, right: string): number {
  if (left === right) return 0
  const rights = right === '' ? [] : right.split('.')
  const lefts = left === '' ? [] : left.split('.')
  for (const [index, item] of lefts.entries()) {
    const other = rights[index]
    if (other === undefined) return 1
    if (item === other) continue
    if (digits.test(item) && digits.test(other)) {
      const difference = Number(item) - Number(other)
      if (difference !== 0) return Math.sign(difference)
    } else {
      if (digits.test(item) !== digits.test(other)) return digits.test(item) ? -1 : 1
      return item < other ? -1 : 1
    }
  }
  return lefts.length < rights.length ? -1 : 0
}

/** `~1.2.3`: at least this version, same minor version. */
export function tildeRange(text: string): VersionRange | undefined {
  const version = parseVersion(text)
  if (version === undefined) return undefined
  const [major, minor] = version.numbers
  return { lower: version, upper: [major, minor + 1, 0], certain: version.certain }
}

/** `^1.2.3`: at least this version, same leftmost nonzero part. */
export function caretRange(text: string): VersionRange | undefined {
  const version = parseVersion(text)
  if (version === undefined) return undefined
  const [major, minor, patch] = version.numbers
  const upper: [number, number, number] =
    major > 0 ? [major + 1, 0, 0] : minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1]
  return { lower: version, upper, certain: version.certain }
}

/** `1.*`, `1.2.*`; also `*`, `1.x` and `1.*.*`, which PostHog SDKs decline. */
export function wildcardRange(text: string): VersionRange | undefined {
  const pattern = bare(text)
  if (pattern === '*') return { lower: release(0, 0), upper: [Number.POSITIVE_INFINITY, 0, 0], certain: false }
  const once = pattern.replace(/\.\*$/, '').replace(/\*$/, '')
  const prefix = withoutWildcards(pattern)
  const [first, second] = prefix.split('.')
  if (!digits.test(first!) || (second !== undefined && !digits.test(second))) return undefined
  const certain = prefix === once && !withLeadingZero.test(first!) && !withLeadingZero.test(second ?? '')
  const major = Number.parseInt(first!, 10)
  if (second === undefined) return { lower: release(major, 0), upper: [major + 1, 0, 0], certain }
  const minor = Number.parseInt(second, 10)
  return { lower: release(major, minor), upper: [major, minor + 1, 0], certain }
}

/** Trims by index: a pattern that looks for the end would be tried at every character. */
function withoutWildcards(pattern: string): string {
  let end = pattern.length
  while (end > 0 && '*xX'.includes(pattern[end - 1]!)) end -= pattern[end - 2] === '.' ? 2 : 1
  return pattern.slice(0, end)
}

const release = (major: number, minor: number): Version => ({ numbers: [major, minor, 0], suffix: '', certain: true })

function bare(text: string): string {
  return text.trim().replace(/^[vV]/, '')
}
