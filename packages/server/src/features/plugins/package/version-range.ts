/** Semantic version ranges as plugin.json uses them: comparators joined by spaces or commas, alternatives by `||`. */

type Version = readonly [major: number, minor: number, patch: number]
type Test = (version: Version) => boolean

const comparator =
  /^(>=|<=|>|<|==|=|\^|~=?|!=)?v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/** Whether a version lies in a range; undefined when the range is not one. */
export function isVersionInRange(version: string, range: string): boolean | undefined {
  const wanted = parseVersion(version)
  const alternatives = range.split('||').map(parseAlternative)
  if (alternatives.includes(undefined)) return undefined
  return alternatives.some(tests => tests!.every(test => test(wanted)))
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(part => Number.parseInt(part, 10))
  return [major, minor, patch]
}

function parseAlternative(text: string): Test[] | undefined {
  const words = text
    .replace(/([<>=^~!])\s+/g, '$1')
    .split(/[\s,]+/)
    .filter(word => word !== '')
  if (words.length === 0) return undefined
  const tests = words.map(parseComparator)
  return tests.includes(undefined) ? undefined : (tests as Test[])
}

function parseComparator(word: string): Test | undefined {
  const match = comparator.exec(word)
  if (!match) return undefined
  const [, operator = '=', ...parts] = match
  const given = parts
    .slice(0, 3)
    .filter(part => part !== undefined && /^\d+$/.test(part))
    .map(Number)
  const low: Version = [given[0] ?? 0, given[1] ?? 0, given[2] ?? 0]
  return testFor(operator, low, given.length)
}

/** `given` is how many of the three numbers are stated: `1.2` means all of `1.2.x`. */
function testFor(operator: string, low: Version, given: number): Test {
  const next = given === 3 ? undefined : bump(low, given - 1)
  const isBelowNext: Test = version => given === 0 || compare(version, next ?? bump(low, 2)) < 0
  const isAtLeast: Test = version => compare(version, low) >= 0
  switch (operator) {
    case '>=':
      return isAtLeast
    case '<':
      return version => !isAtLeast(version)
    case '>':
      return version => isAtLeast(version) && !isBelowNext(version)
    case '<=':
      return isBelowNext
    case '!=':
      return version => !(isAtLeast(version) && isBelowNext(version))
    case '^':
      return version => isAtLeast(version) && compare(version, caretEnd(low, given)) < 0
    case '~':
    case '~=':
      return version => isAtLeast(version) && compare(version, bump(low, given >= 2 ? 1 : 0)) < 0
    default:
      return version => isAtLeast(version) && isBelowNext(version)
  }
}

function caretEnd(low: Version, given: number): Version {
  const firstNonZero = low.findIndex(part => part > 0)
  return bump(low, firstNonZero >= 0 ? firstNonZero : Math.max(0, given - 1))
}

function bump(version: Version, index: number): Version {
  const bumped = version.map((part, i) => (i < index ? part : i === index ? part + 1 : 0))
  return [bumped[0]!, bumped[1]!, bumped[2]!]
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
