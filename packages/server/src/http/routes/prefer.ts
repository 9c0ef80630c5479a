/** RFC 7240: whether a request has `Prefer: return=representation`. The first preference of a name counts. */
export function wantsRepresentation(header: string | string[] | undefined): boolean {
  const preferences = [header ?? []].flat().flatMap(line => line.split(','))
  const wish = preferences
    .map(text => /^\s*return\s*=\s*"?([\w-]*)"?\s*(;.*)?$/i.exec(text)?.[1])
    .find(value => value !== undefined)
  return wish?.toLowerCase() === 'representation'
}
