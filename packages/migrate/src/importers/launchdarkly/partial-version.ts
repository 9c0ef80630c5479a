import { isFullVersion } from '../value-checks.ts'

/** A version with three numbers, as LaunchDarkly completes it; undefined for text that it does not read. */
export function partialVersion(text: string): string | undefined {
  if (text.startsWith('v')) return undefined
  const version = text.trim()
  if (isFullVersion(version)) return version
  const match = /^\d+(\.\d+)?(\.\d+)?/.exec(text)
  if (match === null) return undefined
  const [numbers, minor, patch] = match
  const missing = `${minor === undefined ? '.0' : ''}${patch === undefined ? '.0' : ''}`
  const completed = `${numbers}${missing}${text.slice(numbers.length)}`.trim()
  return isFullVersion(completed) ? completed : undefined
}
