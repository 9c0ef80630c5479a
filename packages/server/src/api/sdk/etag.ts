/** Whether the client has the current version. Weak comparison, as for GET: compressing proxies make ETags weak. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some(candidate => candidate.trim() === '*' || strong(candidate) === strong(etag))
}

const strong = (etag: string): string => etag.trim().replace(/^W\//, '')
