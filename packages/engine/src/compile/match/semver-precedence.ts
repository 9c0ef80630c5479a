/** Versions as Semantic Versioning 2.0 orders them: pre-releases count, build metadata does not. */
export interface Semver {
  readonly numbers: readonly number[]
  readonly prerelease: readonly (number | string)[]
}

const versionLengthMax = 256
const number = '(0|[1-9]\\d*)'
const identifier = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][a-zA-Z0-9-]*)'
const pattern = new RegExp(
  `^v?${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)

/** Undefined for anything but three numbers, an optional pre-release and build, and an optional leading `v`. */
export function parseSemver(text: string): Semver | undefined {
  if (text.length > versionLengthMax) return undefined
  const match = pattern.exec(text.trim())
  if (match === null) return undefined
  const numbers = match.slice(1, 4).map(Number)
  if (!numbers.every(Number.isSafeInteger)) return undefined
  return { numbers, prerelease: match[4]?.split('.').map(part => (/^\d+$/.test(part) ? Number(part) : part)) ?? [] }
}

const leadingNumbers = /^\d+(\.\d+)?(\.\d+)?/

/** As LaunchDarkly reads versions: `1.2` is 1.2.0, `2-beta` is 2.0.0-beta, and a leading `v` is not a version. */
export function parsePartialSemver(text: string): Semver | undefined {
  if (text.startsWith('v')) return undefined
  const whole = parseSemver(text)
  const match = whole === undefined ? leadingNumbers.exec(text) : null
  if (match === null) return whole
  const [numbers, minor, patch] = match
  return parseSemver(
    `${numbers}${minor === undefined ? '.0' : ''}${patch === undefined ? '.0' : ''}${text.slice(numbers.length)}`,
  )
}

/** Negative, 0 or positive. */
export function comparePrecedence(left: Semver, right: Semver): number {
  for (let index = 0; index < 3; index++) {
    const difference = left.numbers[index]! - right.numbers[index]!
    if (difference !== 0) return difference
  }
  return comparePrereleases(left.prerelease, right.prerelease)
}

/** A version without a pre-release comes after all of its pre-releases. */
function comparePrereleases(left: Semver['prerelease'], right: Semver['prerelease']): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compareIdentifiers(left[index]!, right[index]!)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers come before text. */
function compareIdentifiers(left: number | string, right: number | string): number {
  if (left === right) return 0
  if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1
  return left < right ? -1 : 1
}
