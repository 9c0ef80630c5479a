import type { Random } from '@halyard/migrate/prove/random'

/** The values from which random documents are made. */

export type Json = Record<string, unknown>

export const texts = [
  'pro',
  'Pro',
  'free',
  'a',
  'abc',
  'ab',
  'true',
  'null',
  '5',
  '1.5',
  'München',
  'x y',
  'team-β',
  '10',
]
export const numbers = [0, 1, 5, 10, -3, 1.5, 18, 100]
export const versions = ['1.2.3', '1.2.3-beta.1', '1.10.0', '2.0.0', '1.2.3-alpha', '1.0.0', '2.0.0-rc.1']
export const ranges = ['10.0.0.0/8', '192.168.1.0/24', '1.2.3.4', '2001:db8::/32', '::1']
export const patterns = ['^a', 'b+c?$', '[0-9]+', 'pro|team', '^.{2,3}$', '\\s', '\\w-', '^$']
export const dates = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00.000Z', '2026-06-01T12:00:00.000Z']
export const properties = ['plan', 'age', 'version', 'ip', 'city', 'tags']

const flagsPerDocument = 12
export const keys = Array.from({ length: flagsPerDocument }, (_, index) => `flag-${index}`)

export function weights(random: Random, count: number, total: number): number[] {
  const cuts = random.list(count - 1, () => random.below(total + 1)).sort((left, right) => left - right)
  return [...cuts, total].map((cut, index) => cut - (cuts[index - 1] ?? 0))
}
