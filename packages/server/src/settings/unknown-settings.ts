type Environment = Readonly<Record<string, string | undefined>>

/** Read by commands and clients, not by the server. */
const clientVariables = ['HALYARD_URL', 'HALYARD_KEY', 'HALYARD_PROJECT_ID', 'HALYARD_PROJECT_TOKEN']

/** Kubernetes sets these for a Service called halyard. */
const isFromKubernetes = (name: string): boolean => /_(SERVICE_(HOST$|PORT)|PORT$|PORT_\d+_(TCP|UDP|SCTP))/.test(name)

const distanceMax = 3
/** Shorter names (HOST, PORT) resemble too many unrelated variables. */
const comparedCharactersMin = 8

/**
 * One sentence for each variable that looks like a setting and is none: every unknown HALYARD_ name, and other names that differ from a setting
 * by a typing error.
 */
export function unknownSettings(environment: Environment, settings: readonly string[]): string[] {
  const all = new Set([...settings, ...clientVariables])
  return Object.keys(environment)
    .filter(name => !all.has(name) && !isFromKubernetes(name))
    .flatMap(name => {
      const isOurs = name.startsWith('HALYARD_')
      const near = nearest(name, [...all], isOurs ? distanceMax : 2)
      const suggestion = near !== undefined && environment[near] === undefined ? near : undefined
      if (!isOurs && (suggestion === undefined || name.length < comparedCharactersMin)) return []
      return [`${name} is not a setting${suggestion ? `. Did you mean ${suggestion}?` : ' and is ignored.'}`]
    })
}

function nearest(name: string, candidates: readonly string[], max: number): string | undefined {
  const ranked = candidates
    .filter(candidate => candidate.length >= comparedCharactersMin)
    .map(candidate => ({ candidate, distance: editDistance(name, candidate, max) }))
    .filter(({ distance }) => distance <= max)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}

/** Damerau–Levenshtein distance (optimal string alignment): swapped neighbors count once. Infinity when it is more than `max`. */
export function editDistance(a: string, b: string, max = distanceMax): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    const above = rows[i - 1] as number[]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, (above[j - 1] as number) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (rows[i - 2]?.[j - 2] as number) + 1)
      row.push(best)
    }
    rows.push(row)
    // A swap looks two rows back.
    if (Math.min(...row, ...above) > max) return Number.POSITIVE_INFINITY
  }
  return rows[a.length]?.[b.length] as number
}
