/** Whether the client has what it would get. Weak comparison, as for GET: proxies that compress make ETags weak as they like. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some(given => given.trim() === '*' || strong(given) === strong(etag))
}

const strong = (etag: string): string => etag.trim().replace(/^W\//, '')
