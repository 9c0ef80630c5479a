import type { ReplicatedFlag } from '../api/edge/project-documents.ts'
import { type FlagOverride, overrideProblem, readOverride } from '../evaluation/projects/flag-override.ts'
import { editDistance } from '../settings/unknown-settings.ts'
import { type JsonFile, JsonFileError, placeOf, positionOfKey } from './json-file.ts'

export interface OverrideFile {
  readonly overrides: ReadonlyMap<string, FlagOverride>
  /** One sentence for each entry that is ignored. */
  readonly problems: readonly string[]
}

export const noOverrides: OverrideFile = { overrides: new Map(), problems: [] }

/** Reads `{"flag-key": true | "variant" | {value, payload}}`. Raises JsonFileError when the file as a whole is something else. */
export function readOverrideFile({ path, text, value }: JsonFile, flags: readonly ReplicatedFlag[]): OverrideFile {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new JsonFileError(`${placeOf(path, text, 0)}: overrides must be an object with a value for each flag key.`)
  const byKey = new Map(flags.map(flag => [flag.key, flag]))
  const overrides = new Map<string, FlagOverride>()
  const problems: string[] = []
  for (const [key, entry] of Object.entries(value)) {
    const flag = byKey.get(key)
    const override = readOverride(entry)
    const problem =
      flag === undefined
        ? unknownFlag(key, [...byKey.keys()])
        : override === undefined
          ? `The value of "${key}" must be true, false, a variant or {"value": …, "payload": …}.`
          : overrideProblem(flag, override)
    if (problem === undefined) overrides.set(key, override!)
    else problems.push(`${placeOf(path, text, positionOfKey(text, key))}: ${problem}`)
  }
  return { overrides, problems }
}

const distanceMax = 3

function unknownFlag(key: string, keys: readonly string[]): string {
  const [nearest] = keys
    .map(candidate => ({ candidate, distance: editDistance(key, candidate) }))
    .filter(({ distance }) => distance <= Math.min(distanceMax, key.length / 2))
    .sort((a, b) => a.distance - b.distance)
  return `There is no flag "${key}".${nearest ? ` Did you mean "${nearest.candidate}"?` : ''}`
}
