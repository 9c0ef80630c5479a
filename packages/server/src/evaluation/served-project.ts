import { type CohortDefinition, compile, type Snapshot } from '@halyard/engine'
import type { Flag } from '../flags/flag.ts'
import type { Project } from '../tenancy.ts'
import { flagDefinition } from './flag-definition.ts'
import { linearRegex } from './linear-regex.ts'

/** A project as it is served at one moment. Never changes: a committed write makes a new one in its place. */
export interface ServedProject {
  readonly project: Project
  readonly snapshot: Snapshot
  /** The live flags, active or not, by id. */
  readonly flags: ReadonlyMap<number, Flag>
  readonly cohorts: readonly CohortDefinition[]
  /** Whether anybody is stored at all. While nobody is, there is nothing to look up; the first one is announced. */
  readonly hasPersons: boolean
  /** About how large the definitions are, as text. */
  readonly bytes: number
}

/** What is read from the database, all at one moment. */
export interface ProjectContent {
  readonly project: Project
  readonly flags: readonly Flag[]
  readonly cohorts: readonly CohortDefinition[]
  readonly hasPersons: boolean
}

export function servedProject({ project, flags, cohorts, hasPersons }: ProjectContent): ServedProject {
  const { groupTypes, propertyMatchingVersion } = project
  const definitions = { flags: flags.map(flagDefinition), cohorts, groupTypes, propertyMatchingVersion }
  const snapshot = compile(definitions, { regex: linearRegex })
  const bytes = bytesOf(flags) + JSON.stringify(cohorts).length
  return { project, snapshot, flags: new Map(flags.map(flag => [flag.id, flag])), cohorts, hasPersons, bytes }
}

const bytesOf = (flags: Iterable<Flag>): number => {
  let bytes = 0
  for (const flag of flags) bytes += JSON.stringify(flag.filters).length
  return bytes
}

/** The same project with some flags looked up again: those found have changed or are new, the others are gone. */
export function withFlags(served: ServedProject, lookedUp: Iterable<number>, found: readonly Flag[]): ServedProject {
  const flags = new Map(served.flags)
  const before = [...lookedUp].flatMap(id => flags.get(id) ?? [])
  for (const id of lookedUp) flags.delete(id)
  for (const flag of found) flags.set(flag.id, flag)
  const removed = [...lookedUp].filter(id => !flags.has(id))
  const bytes = served.bytes - bytesOf(before) + bytesOf(found)
  return { ...served, bytes, flags, snapshot: served.snapshot.update({ flags: found.map(flagDefinition), removed }) }
}
