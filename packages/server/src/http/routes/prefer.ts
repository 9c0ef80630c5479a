/** RFC 7240: whether a request has `Prefer: return=representation`. The first preference of a name counts. */
export function wantsRepresentation(header: string | string[] | undefined): boolean {
  const preferences = [header ?? []].flat().flatMap(line => line.split(','))
  const wish = preferences.map(returnPreference).find(value => value !== undefined)
  return wish?.toLowerCase() === 'representation'
}

function returnPreference(preference: string): string | undefined {
  const [name, ...rest] = preference.split(';', 1)[0]!.split('=')
  if (name!.trim().toLowerCase() !== 'return' || rest.length !== 1) return undefined
  return /^(?:"([\w-]*)"|([\w-]*))$/
    .exec(rest[0]!.trim())
    ?.slice(1)
    .find(value => value !== undefined)
}
