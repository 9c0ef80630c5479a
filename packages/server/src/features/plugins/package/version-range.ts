// The whole package would be loaded at every start.
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'

/**
 * Whether a version is in a range of `plugin.json`; undefined when the range is invalid. Beside npm's syntax this takes
 * what PostHog's plugins also use: commas between comparators, `==`, `~=` and `!=`.
 */
export function isVersionInRange(version: string, range: string): boolean | undefined {
  const alternatives = range.split('||').map(alternative => isInAlternative(version, alternative))
  if (alternatives.includes(undefined)) return undefined
  return alternatives.includes(true)
}

function isInAlternative(version: string, alternative: string): boolean | undefined {
  const comparators = alternative
    .replace(/([<>=^~!])\s+/g, '$1')
    .split(/[\s,]+/)
    .filter(comparator => comparator !== '')
    .map(comparator => comparator.replace(/^==/, '=').replace(/^~=/, '~'))
  const excluded = comparators.filter(comparator => comparator.startsWith('!=')).map(comparator => comparator.slice(2))
  const included = comparators.filter(comparator => !comparator.startsWith('!=')).join(' ')
  const isValid = comparators.length > 0 && [...excluded, included || '*'].every(each => each && validRange(each))
  if (!isValid) return undefined
  return satisfies(version, included || '*') && !excluded.some(each => satisfies(version, each))
}
