import { type CohortDefinition, compile, type Snapshot } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'
import type { Project } from '../../tenancy.ts'
import { linearRegex } from '../linear-regex.ts'
import { flagDefinition } from './flag-definition.ts'

/** A served version of a project. Immutable: a committed write replaces it. */
export interface ServedProject {
  readonly project: Project
  readonly snapshot: Snapshot
  /** The live flags, active or not. */
  readonly live: readonly Flag[]
  /** The same by id, indexed on first use. */
  readonly flags: ReadonlyMap<number, Flag>
  readonly cohorts: readonly CohortDefinition[]
  /** Whether any person is stored. Without one, lookups are skipped; the first person is published as a change. */
  readonly hasPersons: boolean
  /** The approximate size of the definitions as text. */
  readonly bytes: number
  /** No live flag has a greater id. */
  readonly highestId: number
}

/** A consistent read of the database. */
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
  return withFlagsById({ project, snapshot, live: flags, cohorts, hasPersons, bytes, highestId: highestOf(flags, 0) })
}

function withFlagsById(served: Omit<ServedProject, 'flags'>): ServedProject {
  let flags: ReadonlyMap<number, Flag> | undefined
  return {
    ...served,
    get flags() {
      flags ??= new Map(served.live.map(flag => [flag.id, flag]))
      return flags
    },
  }
}

const bytesOf = (flags: Iterable<Flag>): number => {
  let bytes = 0
  for (const flag of flags) bytes += JSON.stringify(flag.filters).length
  return bytes
}

/** The same project with some flags read again: those found have changed or are new, the others were deleted. */
export function withFlags(served: ServedProject, lookedUp: readonly number[], current: readonly Flag[]): ServedProject {
  const { project, cohorts, hasPersons } = served
  const { live, stale } = withoutFlags(served.live, lookedUp, served.highestId)
  live.push(...current)
  const bytes = served.bytes - bytesOf(stale) + bytesOf(current)
  const currentIds = new Set(current.map(flag => flag.id))
  const removed = lookedUp.filter(id => !currentIds.has(id))
  const snapshot = served.snapshot.update({ flags: current.map(flagDefinition), removed })
  const highestId = highestOf(current, served.highestId)
  return withFlagsById({ project, snapshot, live, cohorts, hasPersons, bytes, highestId })
}

/** Ids grow: a flag with a higher id than all others is new, and copying a whole list is cheap. */
function withoutFlags(
  flags: readonly Flag[],
  ids: readonly number[],
  highestId: number,
): { live: Flag[]; stale: Flag[] } {
  const sought = new Set(ids.filter(id => id <= highestId))
  if (sought.size === 0) return { live: flags.slice(), stale: [] }
  const live: Flag[] = []
  const stale: Flag[] = []
  for (const flag of flags) (sought.has(flag.id) ? stale : live).push(flag)
  return { live, stale }
}

const highestOf = (flags: readonly Flag[], atLeast: number): number =>
  flags.reduce((highest, { id }) => Math.max(highest, id), atLeast)
